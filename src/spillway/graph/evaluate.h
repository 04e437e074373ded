#pragma once

#include "spillway/graph/node.h"

namespace spillway::graph {

// Computes the values of `roots` and keeps them in their nodes: planned as a whole, fused, or
// refused with the numbers when the plan cannot fit. Errors carry the op and its line. Symbolic
// operands have no value: kUser error.
Status evaluate(std::span<const Operand> roots, const AccountPtr& account,
                Buffer::Ask ask = Buffer::Ask::kRequired);

// Where a chain of nodes grows too long, or all inputs are known and the result is small, or the op
// may not be deferred, there is nothing to gain by waiting.
bool evaluate_at_once(const Node& node);

// Whether a node's values are known to be so small that computing them takes no time to speak of.
bool is_small(const Node& node);

}  // namespace spillway::graph
