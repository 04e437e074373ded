#pragma once

#include "spillway/graph/node.h"

namespace spillway::graph {

// Writes a known value of plain items to disk and answers with a node that reads it back when it is
// asked for. The bytes in memory go with the last reference to the operand's own node. A value that
// was read back is not written again. kResource where the disk is full.
Result<NodePtr> spill(const Operand& operand);

// The op of such nodes: nothing goes in, one value comes out.
extern const OpDef unspill_op;

}  // namespace spillway::graph
