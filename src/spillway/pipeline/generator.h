#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "spillway/pipeline/value.h"

namespace spillway {

// Rows under construction by one thread and taken by another. The maker adds rows and publishes
// each; the taker may take the published ones at any time, so that a row is never withheld while
// the next is awaited. Rows of a static plain structure are written into one block of `capacity`
// rows (a batch can then be a view of it); others are kept one by one.
class GrowingRows {
 public:
  // `slots`: one plain block a component, or empty for rows kept one by one, whose sizes nobody
  // knows: those are enough when they have `most_bytes`.
  GrowingRows(StructurePtr structure, std::int64_t capacity, std::vector<Tensor> slots,
              std::size_t most_bytes = SIZE_MAX)
      : structure_(std::move(structure)),
        capacity_(capacity),
        most_bytes_(most_bytes),
        slots_(std::move(slots)) {
    if (slots_.empty()) rows_.reserve(static_cast<std::size_t>(capacity));
  }

  const StructurePtr& structure() const { return structure_; }
  // Maker, before the first row, when nothing was declared.
  void learn(StructurePtr structure) { structure_ = std::move(structure); }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t added() const { return published_.load(std::memory_order_relaxed); }
  bool full() const { return added() == capacity_ || bytes_ >= most_bytes_; }
  // Maker: of the rows kept one by one.
  std::size_t loose_bytes() const { return bytes_; }

  // Maker: where component `c` of the next row goes; null when rows are kept one by one.
  std::byte* slot(std::size_t c) {
    if (slots_.empty()) return nullptr;
    return slots_[c].mutable_data() + static_cast<std::size_t>(added()) * slots_[c].bytes() /
                                          static_cast<std::size_t>(capacity_);
  }
  bool in_block() const { return !slots_.empty(); }
  // Maker: slots are filled.
  void publish() {
    const std::int64_t rows = added() + 1;  // nobody else writes it
    published_.store(rows, std::memory_order_release);
    if (told_ != nullptr) told_->store(rows, std::memory_order_relaxed);
  }
  void publish(std::vector<Tensor> row) {
    for (const Tensor& value : row) bytes_ += value.bytes();
    rows_.push_back(std::move(row));
    publish();
  }

  // Maker: from now on this is told how many rows there are; null: nobody is.
  void tell(std::atomic<std::int64_t>* told) {
    told_ = told;
    if (told_ != nullptr) told_->store(added(), std::memory_order_relaxed);
  }

  // Taker: rows [begin, end) without origins, each row once; end <= published(). Rows kept one by
  // one are the taker's alone from then on.
  std::int64_t published() const { return published_.load(std::memory_order_acquire); }
  Chunk take(std::int64_t begin, std::int64_t end);

 private:
  StructurePtr structure_;  // set before the first row is published
  const std::int64_t capacity_;
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;  // maker's
  std::vector<Tensor> slots_;
  std::vector<std::vector<Tensor>> rows_;  // reserved: never moves
  std::atomic<std::int64_t> published_{0};
  std::atomic<std::int64_t>* told_ = nullptr;
};

// A running generator of the front's. Made, advanced and destroyed on one thread.
class Generator {
 public:
  enum class More : std::uint8_t { kYes, kEnd, kError };
  struct Filled {
    More more = More::kYes;
    Status error;           // of the element after the added rows
    bool finished = false;  // after an error: nothing more will come
    bool unsure = false;    // after an error: the user's iterator raised it, and may be over
  };
  virtual ~Generator() = default;
  // Adds rows until the block is full, `deadline_ns` (monotonic) passes or `stop`. Advances the
  // user's generator once a row, never more.
  virtual Filled fill(GrowingRows& block, std::int64_t deadline_ns,
                      const std::atomic<bool>& stop) = 0;
  // The file it opened last, for errors; empty: unknown.
  virtual std::string last_file() const { return ""; }
  // Whether something of it goes on between rows: an event loop. Then whoever owns it lets it
  // rest() rather than wait: until `wake` can be read, or for `most_ns` (negative: without end).
  virtual bool rests() const { return false; }
  virtual void rest(int /*wake*/, std::int64_t /*most_ns*/) {}
  // After fill(): where it is, for resume(); empty: it cannot say.
  virtual Result<std::string> state() { return std::string(); }
};

// The user's callable with its arguments: makes a fresh generator for each pass.
class GeneratorFactory : public Object {
 public:
  virtual Result<std::unique_ptr<Generator>> start(const AccountPtr& account) = 0;
  // One that goes on where another, of this factory in some process, had that state().
  virtual Result<std::unique_ptr<Generator>> resume(const AccountPtr& account,
                                                    std::string_view state);
  std::string code() const override = 0;
};

}  // namespace spillway
