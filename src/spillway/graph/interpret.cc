#include "spillway/graph/interpret.h"

#include <unordered_map>

#include "spillway/graph/run_op.h"

namespace spillway::graph {
namespace {

using Values = std::unordered_map<const Node*, std::vector<Tensor>>;

// The path whose bytes the operands were made from; empty: none.
std::string file_behind(std::vector<Operand> operands, const Graph& graph, const Values& values) {
  std::unordered_map<const Node*, const std::vector<Operand>*> inputs;
  for (const auto& [node, own] : graph.order()) inputs[node.get()] = &own;
  while (!operands.empty()) {
    const Operand operand = operands.back();
    operands.pop_back();
    const auto found = inputs.find(operand.node.get());
    if (found == inputs.end()) continue;
    const std::vector<Operand>& from = *std::exchange(found->second, nullptr);
    inputs.erase(found);  // once each
    if (operand.node->op().name != "read_file") {
      operands.insert(operands.end(), from.begin(), from.end());
      continue;
    }
    const auto path = values.find(from[0].node.get());
    const Tensor* const value = path != values.end()
                                    ? &path->second[static_cast<std::size_t>(from[0].output)]
                                    : from[0].value();
    if (value != nullptr) return std::string(value->string_at(0));
  }
  return {};
}

}  // namespace

Result<std::vector<Tensor>> interpret(const Graph& graph, std::span<const Tensor> parameters,
                                      const AccountPtr& account, Buffer::Ask ask,
                                      const Call& call) {
  Values values;
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
      if (error.kind() == ErrorKind::kData && error.info().file.empty()) {
        error.edit().file = file_behind(operands, graph, values);
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
