#include "spillway/graph/interpret.h"

#include <unordered_map>

#include "spillway/graph/run_op.h"

namespace spillway::graph {
namespace {

using Values = std::unordered_map<const Node*, std::vector<Tensor>>;
// The paths that steps of read_file were given: values are let go once they are spent.
using Paths = std::unordered_map<const Node*, Tensor>;

// The path whose bytes the operands were made from; empty: none.
std::string file_behind(std::vector<Operand> operands, const Graph& graph, const Paths& paths) {
  std::unordered_map<const Node*, const std::vector<Operand>*> inputs;
  for (const auto& [node, own] : graph.order()) inputs[node.get()] = &own;
  while (!operands.empty()) {
    const Operand operand = operands.back();
    operands.pop_back();
    if (const auto path = paths.find(operand.node.get()); path != paths.end()) {
      return std::string(path->second.string_at(0));
    }
    const auto found = inputs.find(operand.node.get());
    if (found == inputs.end()) continue;
    operands.insert(operands.end(), found->second->begin(), found->second->end());
    inputs.erase(found);  // once each
  }
  return {};
}

}  // namespace

Result<std::vector<Tensor>> interpret(const Graph& graph, std::span<const Tensor> parameters,
                                      const AccountPtr& account, Buffer::Ask ask,
                                      const Call& call) {
  static const OpDef* const reads = find_op("read_file");
  Values values;
  Paths paths;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    values[graph.parameters()[i].get()] = {parameters[i]};
  }
  const auto value_of = [&](const Operand& operand) -> const Tensor& {
    if (const auto found = values.find(operand.node.get()); found != values.end()) {
      return found->second[static_cast<std::size_t>(operand.output)];
    }
    return *operand.value();
  };
  for (std::size_t step = 0; step < graph.order().size(); ++step) {
    const auto& [node, operands] = graph.order()[step];
    std::vector<Tensor> inputs;
    inputs.reserve(operands.size());
    for (const Operand& input : operands) inputs.push_back(value_of(input));
    if (&node->op() == reads) paths[node.get()] = inputs[0];
    auto made = run_op(node->op(), inputs, node->attrs(), account, ask, call);
    if (!made.ok()) {
      Status error = std::move(made).status().at(node->op().name);
      if (error.info().line.empty()) error.edit().line = node->line();
      if (error.kind() == ErrorKind::kData && error.info().file.empty()) {
        error.edit().file = file_behind(operands, graph, paths);
      }
      return error;
    }
    values[node.get()] = std::move(made).value();
    for (const Node* spent : graph.spent_after(step)) values.erase(spent);
  }
  std::vector<Tensor> results;
  for (const Operand& result : graph.results()) results.push_back(value_of(result));
  return results;
}

}  // namespace spillway::graph
