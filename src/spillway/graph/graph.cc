#include "spillway/graph/graph.h"

#include <sstream>
#include <unordered_map>
#include <unordered_set>

namespace spillway::graph {

std::vector<Scheduled> pending_nodes(std::span<const Operand> roots) {
  struct Frame {
    NodePtr node;
    std::vector<Operand> inputs;
    std::size_t next = 0;
  };
  std::vector<Scheduled> order;
  std::unordered_set<const Node*> seen;
  std::vector<Frame> stack;
  const auto enter = [&](const NodePtr& node) {
    if (node->evaluated() || &node->op() == &parameter_op || !seen.insert(node.get()).second)
      return;
    if (auto inputs = node->pending_inputs()) stack.push_back({node, std::move(*inputs)});
  };
  for (const Operand& root : roots) {
    enter(root.node);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next < frame.inputs.size()) {
        const NodePtr input = frame.inputs[frame.next++].node;
        enter(input);
      } else {
        order.push_back({std::move(frame.node), std::move(frame.inputs)});
        stack.pop_back();
      }
    }
  }
  return order;
}

GraphPtr Graph::make(std::vector<NodePtr> parameters, std::vector<Operand> results) {
  auto graph = std::shared_ptr<Graph>(new Graph());
  graph->order_ = pending_nodes(results);
  graph->parameters_ = std::move(parameters);
  graph->results_ = std::move(results);
  for (const auto& [node, inputs] : graph->order_) {
    graph->stateful_ |= node->op().effect == Effect::kState;
    graph->fallible_ |= node->op().effect != Effect::kNone;
  }
  return graph;
}

std::string Graph::describe() const {
  std::unordered_map<const Node*, std::string> names;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    names[parameters_[i].get()] = "arg" + std::to_string(i);
  }
  std::ostringstream text;
  const auto name = [&](const Operand& operand) {
    std::string out = "const " + operand.spec().to_string();
    if (const auto found = names.find(operand.node.get()); found != names.end())
      out = found->second;
    if (operand.node->outputs().size() > 1) out += "." + std::to_string(operand.output);
    return out;
  };
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Node& node = *order_[i].node;
    names[&node] = "%" + std::to_string(i);
    text << "%" << i << " = " << node.op().name << "(";
    bool comma = false;
    for (const Operand& input : order_[i].inputs) {
      text << (comma ? ", " : "") << name(input);
      comma = true;
    }
    text << ") : " << node.outputs()[0].to_string() << "\n";
  }
  return text.str();
}

}  // namespace spillway::graph
