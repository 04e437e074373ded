#include "spillway/graph/interpret.h"

#include <unordered_map>

#include "spillway/graph/run_op.h"

namespace spillway::graph {

Result<std::vector<Tensor>> interpret(const Graph& graph, std::span<const Tensor> parameters,
                                      const AccountPtr& account, Buffer::Ask ask,
                                      const Call& call) {
  std::unordered_map<const Node*, std::vector<Tensor>> values;
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
    auto made = run_op(node->op(), inputs, node->attrs(), account, ask, call);
    if (!made.ok()) {
      Status error = std::move(made).status().at(node->op().name);
      if (error.info().line.empty()) error.edit().line = node->line();
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
