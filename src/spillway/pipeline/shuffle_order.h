#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/base/random.h"
#include "spillway/pipeline/state.h"

// The order of a shuffle: TensorFlow's, bit for bit.
namespace spillway {

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

// The node's own generator: every new pass draws its pair from it, or uses the pair itself when
// each pass is to be alike. Without a seed from the user (0, 0) both are drawn once, for the
// node's life. Thread-safe.
class SeedSource final : public SharedState {
 public:
  SeedSource(Seeds seeds, bool reshuffle);
  Seeds draw();
  // The node's own pair, which no pass uses up.
  Seeds own() const;
  void save(StateWriter& out) const override;
  Status restore(StateReader& in) override;

 private:
  const bool reshuffle_;
  mutable Mutex mutex_;
  Seeds seeds_ SW_GUARDED_BY(mutex_);
  PhiloxStream stream_ SW_GUARDED_BY(mutex_);
};

// TensorFlow's shuffle buffer: a ring of which a random one leaves, its place taken by the oldest.
// Grows as it is filled, up to `capacity`.
template <class T>
class Ring {
 public:
  explicit Ring(std::int64_t capacity) : capacity_(static_cast<std::uint64_t>(capacity)) {}
  std::uint64_t size() const { return size_; }
  bool full() const { return size_ == capacity_; }
  void push(T item) {
    std::uint64_t at = head_ + size_;
    if (at >= capacity_) at -= capacity_;
    if (at == items_.size()) {
      items_.push_back(item);
    } else {
      items_[at] = item;
    }
    ++size_;
  }
  T pop(PhiloxStream& random) {
    const std::uint32_t number = random.next();
    // A size of 32 bits divides four times faster.
    std::uint64_t at = size_ <= UINT32_MAX ? number % static_cast<std::uint32_t>(size_) : number;
    at += head_;
    if (at >= capacity_) at -= capacity_;
    const T out = std::exchange(items_[at], items_[head_]);
    if (++head_ == capacity_) head_ = 0;
    --size_;
    return out;
  }
  // Room for as many, made once.
  void reserve(std::size_t items) { items_.reserve(items); }

 private:
  std::uint64_t capacity_;
  std::uint64_t head_ = 0;
  std::uint64_t size_ = 0;
  std::vector<T> items_;
};

// 0 to n - 1 in the order in which a buffer that holds them all hands them on.
std::vector<std::int64_t> permutation(Seeds seeds, std::int64_t n);

// What both forms of the iterator save: a checkpoint of one restores into the other, as memory
// allows.
struct ShuffleProgress {
  Seeds seeds;               // of this pass
  std::int64_t emitted = 0;  // rows handed on: one random number each
  std::int64_t pushed = 0;   // rows that entered the buffer
  std::int64_t errors = 0;   // positions of the input without a row, before the oldest needed
  std::vector<std::int64_t> recent_errors;  // and since, ascending
  std::vector<std::int64_t> ring;  // positions in the buffer, when a shrunk one cannot be replayed
  bool shrunk = false;
  std::string input;  // how to come back to the oldest needed row

  // The input's position of the row that entered as number `ordinal`, not before the oldest
  // needed: each error before a row moves it by one.
  std::int64_t position_of(std::int64_t ordinal) const;
  void forget_errors_before(std::int64_t position);

  void save(StateWriter& out) const;
  Status restore(StateReader& in);
};

}  // namespace spillway
