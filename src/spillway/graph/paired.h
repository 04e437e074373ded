#pragma once

#include <string_view>

#include "spillway/graph/op.h"

namespace spillway::graph {

// (x FIRST y) SECOND z in one loop: the item between them stays in a register, and a slow division
// runs while the next operands come from memory. To the bit what the two loops give. Null: there is
// no such pair.
LoopFn paired_loop(std::string_view first, std::string_view second, DType dtype);
// The same and clip_by_value with known bounds, which are the loop's data.
LoopFn bounded_pair_loop(std::string_view first, std::string_view second, DType dtype);

}  // namespace spillway::graph
