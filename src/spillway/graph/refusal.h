#pragma once

#include "spillway/graph/forecast.h"
#include "spillway/graph/graph.h"

namespace spillway::graph {

// Why a computation of `order` cannot run within `limit` bytes: every value that is large beside
// it with size, line and whether it can be drawn again; the work, and the time it takes here; and
// what would fit, each tried by planning it. `needed`: bytes it must hold at once.
Status too_large(std::span<const Scheduled> order, std::span<const Operand> roots,
                 std::size_t needed, std::size_t limit, const AccountPtr& account);

// Values that do not fit alone, or, where each does, those that take an eighth of the limit or
// more; at least the largest. Largest first.
std::vector<Offender> offenders(std::span<const Scheduled> order, std::size_t limit);

// Bytes, at least one an item; SIZE_MAX / 2 where nobody could hold them.
std::size_t bytes_of(const Spec& spec);
std::size_t bytes_of(std::span<const Operand> operands);

}  // namespace spillway::graph
