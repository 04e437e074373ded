#include "spillway/graph/interpret.h"

#include <algorithm>
#include <unordered_map>

#include "spillway/graph/run_op.h"

namespace spillway::graph {
namespace {

// Which file's bytes a node's value was made of, for those who find them damaged.
class FilesBehind {
 public:
  const std::string* of(std::span<const Operand> operands) const {
    if (by_node_.empty()) return nullptr;
    for (const Operand& operand : operands) {
      const auto found = by_node_.find(operand.node.get());
      if (found != by_node_.end()) return &found->second;
    }
    return nullptr;
  }
  static bool direct(std::span<const Operand> operands) {
    return std::ranges::any_of(
        operands, [](const Operand& operand) { return operand.node->op().name == "read_file"; });
  }
  void note(const Node& node, std::span<const Operand> operands, std::span<const Tensor> inputs) {
    if (node.op().name == "read_file") {
      by_node_[&node] = inputs[0].string_at(0);
    } else if (const std::string* file = of(operands)) {
      by_node_[&node] = std::string(*file);
    }
  }

 private:
  std::unordered_map<const Node*, std::string> by_node_;
};

}  // namespace

Result<std::vector<Tensor>> interpret(const Graph& graph, std::span<const Tensor> parameters,
                                      const AccountPtr& account, Buffer::Ask ask,
                                      const Call& call) {
  std::unordered_map<const Node*, std::vector<Tensor>> values;
  FilesBehind files;
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
      const std::string* file = files.of(operands);
      if (file != nullptr && error.info().file.empty()) {
        error.edit().file = *file;
        // Of bytes that were made from the file's, the place in them is not one in the file.
        if (!FilesBehind::direct(operands)) error.edit().offset = -1;
      }
      return error;
    }
    files.note(*node, operands, inputs);
    values[node.get()] = std::move(made).value();
    for (const Node* spent : graph.spent_after(step)) values.erase(spent);
  }
  std::vector<Tensor> results;
  for (const Operand& result : graph.results()) results.push_back(value_of(result));
  return results;
}

}  // namespace spillway::graph
