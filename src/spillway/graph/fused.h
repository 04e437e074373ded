#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spillway/graph/op.h"

namespace spillway::graph {

// Elementwise steps run together over one index space, a block of items at a time, so that what
// they hand to each other stays in the first-level cache. The space is rows x a row's shape; the
// number of rows is known only when it runs. Immutable once built; run() allocates nothing.
class Fused {
 public:
  static constexpr std::int64_t kBlock = 1024;

  // Where an operand's items come from: a register (an earlier step's result) or memory.
  struct Ref {
    bool step = false;
    int at = 0;  // of steps() or sources()
  };

  explicit Fused(Shape row) : row_(std::move(row)), row_items_(row_.count()) {}

  // An operand in memory that broadcasts to the row's shape. `batched`: a row of its own for every
  // row of the space; otherwise all rows see the same.
  Ref source(DType dtype, const Shape& shape, bool batched);
  // A step on earlier refs. `output`: also stored to outs[output]; -1: only passed on.
  Ref step(Loop loop, std::span<const Ref> in, DType dtype, int output);
  // Plans registers. Call once, after the last step.
  void finish();

  std::int64_t row_items() const { return row_items_; }
  std::size_t scratch() const { return scratch_; }
  std::int64_t steps() const { return static_cast<std::int64_t>(steps_.size()); }

  struct Failure {
    int step = -1;  // -1: none
    std::int64_t item = -1;
  };
  // Items [begin, end) of the space. sources[i] and outs[i] point to the first row. `sink`, if any,
  // is handed each block of the last step's items.
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void take(const std::byte* items, std::int64_t first, std::int64_t n) = 0;
  };
  Failure run(const std::byte* const* sources, std::byte* const* outs, std::int64_t begin,
              std::int64_t end, std::byte* scratch, const Call& call, Sink* sink = nullptr) const;
  // run() in two parts, for whoever runs the same items [begin, end) of other rows again and again:
  // what repeats is laid out in scratch once.
  void lay_out(const std::byte* const* sources, std::int64_t begin, std::int64_t end,
               std::byte* scratch) const;
  Failure run_laid_out(const std::byte* const* sources, std::byte* const* outs, std::int64_t begin,
                       std::int64_t end, std::byte* scratch, const Call& call,
                       Sink* sink = nullptr) const;
  const std::string& failure_text(int step) const {
    return steps_[static_cast<std::size_t>(step)].loop.failure;
  }

 private:
  enum class Access : std::uint8_t { kContiguous, kPeriodic, kStrided };
  struct Source {
    std::size_t item = 0;  // bytes
    Access access = Access::kContiguous;
    std::int64_t period = 1;
    // kStrided: extents and strides in items, outermost first; the outermost extent is unbounded.
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> strides;
    std::size_t offset = 0;  // of its register in scratch
  };
  struct Step {
    Loop loop;
    std::vector<Ref> in;
    std::size_t item = 0;
    int output = -1;
    std::size_t offset = 0;
  };

  // Short periods are laid out for a block when run() begins: from then on every block sees the
  // same.
  bool laid_out(const Source& source) const {
    return source.access == Access::kPeriodic && block_ % source.period == 0;
  }
  static void expand(const Source& source, const std::byte* from, std::byte* to, std::int64_t begin,
                     std::int64_t n);
  static void gather(const Source& source, const std::byte* from, std::byte* to, std::int64_t first,
                     std::int64_t n);
  const std::byte* load(const Source& source, const std::byte* base, std::byte* scratch,
                        std::int64_t first, std::int64_t n) const;

  Shape row_;
  std::int64_t row_items_;
  std::vector<Source> sources_;
  std::vector<Step> steps_;
  std::size_t scratch_ = 0;
  std::int64_t block_ = kBlock;  // items at a time: whole periods, so that operands stay aligned
};

}  // namespace spillway::graph
