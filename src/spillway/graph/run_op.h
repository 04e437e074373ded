#pragma once

#include "spillway/graph/op.h"

namespace spillway::graph {

// One op on values that are known: infers, allocates its outputs and runs it, unfused.
Result<std::vector<Tensor>> run_op(const OpDef& op, std::span<const Tensor> inputs,
                                   const Attrs& attrs, const AccountPtr& account, Buffer::Ask ask,
                                   const Call& call = {});

}  // namespace spillway::graph
