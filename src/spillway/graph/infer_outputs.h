#pragma once

#include "spillway/graph/op.h"

namespace spillway::graph {

// Asks the op for its outputs. Fails as it does, or where an output could not exist: more items
// than can be counted, or more bytes than any machine has.
Status infer_outputs(const OpDef& op, Infer& infer);

}  // namespace spillway::graph
