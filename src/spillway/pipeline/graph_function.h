#pragma once

#include "spillway/graph/graph.h"
#include "spillway/pipeline/function.h"

namespace spillway {

// A traced function: a graph that runs on whole chunks, without the interpreter. `output` is what
// its results look like; one result of the graph a component. Results behind those are computed and
// dropped: assertions.
FunctionPtr make_graph_function(graph::GraphPtr graph, StructurePtr output, std::string code,
                                std::string name);

// The same where the graph's last parameters are values from outside the function: it runs once
// they are bound. Bound ones share plans. Null for a function that is not such a graph.
FunctionPtr bind_captured(const FunctionPtr& function, std::vector<Tensor> captured);

// What such a function is made of; no graph: it is another kind.
struct GraphFunctionParts {
  graph::GraphPtr graph;
  std::vector<Tensor> captured;  // bound to the graph's last parameters
};
GraphFunctionParts graph_parts(const Function& function);

}  // namespace spillway
