#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spillway/graph/fold.h"

namespace spillway::graph {

// Moves items of one row-major shape into another order of axes. Neighbouring axes that stay
// together move as runs.
class Transposition {
 public:
  Transposition(const Shape& shape, std::span<const int> order, std::size_t item);
  void run(const std::byte* from, std::byte* to) const { run(from, to, 0, count_); }
  // Runs [first, first + n) of the new order only.
  void run(const std::byte* from, std::byte* to, std::int64_t first, std::int64_t n) const;
  // Where the run of that number lies before it is moved.
  const std::byte* place(const std::byte* from, std::int64_t number) const;
  std::int64_t runs() const { return run_ == 0 ? 0 : count_; }
  std::size_t run_bytes() const { return run_; }

 private:
  std::vector<std::int64_t> dims_;     // of the output, merged
  std::vector<std::int64_t> strides_;  // in bytes, in the input
  std::size_t run_ = 1;                // bytes that move together
  std::int64_t count_ = 1;             // of runs
};

// The reduced axes behind the others, and what a fold sees then.
Transposition reduced_last(const Shape& shape, std::span<const int> axes, std::size_t item);
FoldShape fold_shape_last(const Shape& shape, std::span<const int> axes);

}  // namespace spillway::graph
