#pragma once

#include "spillway/graph/op.h"

namespace spillway::graph {

// One op on values that are known: infers, allocates its outputs and runs it, unfused. `known`:
// what the outputs are, where infer has said so for these very values; empty: it is asked here.
Result<std::vector<Tensor>> run_op(const OpDef& op, std::span<const Tensor> inputs,
                                   const Attrs& attrs, const AccountPtr& account, Buffer::Ask ask,
                                   const Call& call = {}, std::span<const Spec> known = {});

}  // namespace spillway::graph
