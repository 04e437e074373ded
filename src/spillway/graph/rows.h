#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "spillway/graph/op.h"
#include "spillway/memory/spill_file.h"

namespace spillway::graph {

// Who pays for what is reserved.
struct Paying {
  AccountPtr account;
  Buffer::Ask ask = Buffer::Ask::kRequired;
};

// What a buffer of so many bytes is charged.
std::size_t charge_of(std::size_t bytes);

// A value of rank one or more that is made some rows of the leading axis at a time and never held
// as a whole. Planned from specs alone: values it is computed from may come later, before begin().
// For one user at a time.
class Rows {
 public:
  explicit Rows(Spec spec) : spec_(std::move(spec)) {}
  virtual ~Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  const Spec& spec() const { return spec_; }
  std::int64_t count() const { return spec_.shape[0]; }
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(spec_.shape.without_leading().count()) * size_of(spec_.dtype);
  }

  // Bytes that are reserved from begin(most) to end(), and while rows are made.
  virtual Result<std::size_t> held(std::int64_t most) = 0;
  virtual Status begin(std::int64_t most, const Paying& paying) = 0;
  // Rows [first, first + n) to `to`, n <= most.
  virtual Status make(std::int64_t first, std::int64_t n, std::byte* to) = 0;
  virtual void end() = 0;

  // Where the rows lie, if they lie in memory: need not be made.
  virtual const std::byte* at(std::int64_t /*first*/) const { return nullptr; }
  virtual bool in_memory() const { return false; }
  // Whether making rows waits for a disk: then others can be worked on meanwhile.
  virtual bool reads() const { return false; }
  // Rows that must be made together, so that the bits are those of the whole.
  virtual std::int64_t least() const { return 1; }
  // Rows at a time for which weights that all rows share are used often enough to be worth
  // fetching.
  virtual std::int64_t many() const { return 1; }
  // Whether more rows at a time save passes over something else.
  virtual bool wants_many() const { return false; }

 private:
  const Spec spec_;
};
using RowsPtr = std::shared_ptr<Rows>;

// A value in memory, known now or later.
class KnownRows final : public Rows {
 public:
  KnownRows(Spec spec, std::shared_ptr<const Tensor> value)
      : Rows(std::move(spec)), value_(std::move(value)) {}
  Result<std::size_t> held(std::int64_t /*most*/) override { return std::size_t{0}; }
  Status begin(std::int64_t /*most*/, const Paying& /*paying*/) override { return {}; }
  Status make(std::int64_t first, std::int64_t n, std::byte* to) override;
  void end() override {}
  const std::byte* at(std::int64_t first) const override {
    return value_->data() + static_cast<std::size_t>(first) * row_bytes();
  }
  bool in_memory() const override { return true; }

 private:
  const std::shared_ptr<const Tensor> value_;
};

// A value in records of a nameless file, `block` rows each or fewer, in order.
struct RowsOnDisk {
  struct Record {
    std::int64_t first;
    std::int64_t rows;
    SpillSlot slot;
  };
  std::int64_t block = 0;
  std::unique_ptr<SpillFile> file;
  std::vector<Record> records;
  // Rows behind those it has.
  Status append(std::int64_t first, std::int64_t rows, const std::byte* data,
                std::size_t row_bytes);
};

class DiskRows final : public Rows {
 public:
  DiskRows(Spec spec, std::shared_ptr<const RowsOnDisk> value)
      : Rows(std::move(spec)), value_(std::move(value)) {}
  Result<std::size_t> held(std::int64_t /*most*/) override {
    return charge_of(static_cast<std::size_t>(value_->block) * row_bytes());
  }
  Status begin(std::int64_t most, const Paying& paying) override;
  Status make(std::int64_t first, std::int64_t n, std::byte* to) override;
  void end() override { record_.reset(); }
  bool reads() const override { return true; }

 private:
  const std::shared_ptr<const RowsOnDisk> value_;
  std::optional<Buffer> record_;  // one that is not wanted as a whole
};

// Pieces whose sizes differ by one at most, the larger ones first.
struct Cut {
  std::int64_t count = 0;
  std::int64_t parts = 1;
  std::int64_t begin(std::int64_t i) const {
    return i * (count / parts) + std::min(i, count % parts);
  }
  std::int64_t most() const { return (count + parts - 1) / parts; }
};

}  // namespace spillway::graph
