#pragma once

#include "spillway/graph/graph.h"

namespace spillway::graph {

// Runs a graph on one row, op by op: where a shape inside depends on values. One value a result.
Result<std::vector<Tensor>> interpret(const Graph& graph, std::span<const Tensor> parameters,
                                      const AccountPtr& account, Buffer::Ask ask, const Call& call);

}  // namespace spillway::graph
