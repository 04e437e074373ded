#pragma once

#include "spillway/graph/node.h"

// Control flow on values that are not known yet: branches and loop bodies are graphs of their own.
namespace spillway::graph {

// Nodes made from here on are "inside": the next serial number.
std::int64_t next_serial();

// One of `branches` by index; any other index takes the last. Each branch is what its function
// gave, traced since `mark`; what it uses from before is captured. Branches must agree in count and
// types.
Result<NodePtr> make_switch(const Operand& index, std::span<const std::vector<Operand>> branches,
                            std::int64_t mark, SitePtr site);

// `state` while `condition` holds, at most `most` times (-1: no bound). Condition and body were
// traced on `parameters`, since `mark`.
Result<NodePtr> make_while(std::span<const Operand> state, std::span<const NodePtr> parameters,
                           const Operand& condition, std::span<const Operand> body,
                           std::int64_t most, std::int64_t mark, SitePtr site);

// The op of such a node by its name; null: it is none of them. Their attributes are graphs.
const OpDef* find_control_op(std::string_view name);

// A function's results as a graph of its own: its parameters, then one for each value it takes from
// outside, made before `mark`.
struct Closed {
  GraphPtr graph;
  std::vector<Operand> captures;
};
Result<Closed> close_over(std::span<const NodePtr> parameters, std::span<const Operand> results,
                          std::int64_t mark);

}  // namespace spillway::graph
