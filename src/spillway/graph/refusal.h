#pragma once

#include "spillway/graph/graph.h"

namespace spillway::graph {

// Why a computation of `order` cannot run within `limit` bytes: what it would hold, the largest
// values with the lines that made them, the work, and what would fit. `needed`: bytes it must hold
// at once.
Status too_large(std::span<const Scheduled> order, std::span<const Operand> roots,
                 std::size_t needed, std::size_t limit);

// Bytes, at least one an item; SIZE_MAX / 2 where nobody could hold them.
std::size_t bytes_of(const Spec& spec);
std::size_t bytes_of(std::span<const Operand> operands);

}  // namespace spillway::graph
