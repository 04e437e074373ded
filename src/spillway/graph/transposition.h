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
  void run(const std::byte* from, std::byte* to) const;

 private:
  std::vector<std::int64_t> dims_;     // of the output, merged
  std::vector<std::int64_t> strides_;  // in bytes, in the input
  std::size_t run_ = 1;                // bytes that move together
  std::int64_t count_ = 1;             // runs
};

// The reduced axes behind the others, and what a fold sees then.
Transposition reduced_last(const Shape& shape, std::span<const int> axes, std::size_t item);
FoldShape fold_shape_last(const Shape& shape, std::span<const int> axes);

}  // namespace spillway::graph
