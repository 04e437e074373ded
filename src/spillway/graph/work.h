#pragma once

#include <span>

#include "spillway/graph/op.h"

namespace spillway::graph {

// Operations of one node, for the sentence of a refusal that says how long it would take: a product
// and its sum are two, a comparison one. Moves of bytes count one an item, an op whose work depends
// on its values no less. As a double: what nobody could compute must not wrap.
double work_of(const OpDef& op, const Attrs& attrs, std::span<const Spec> inputs,
               std::span<const Spec> outputs);

}  // namespace spillway::graph
