#include "spillway/graph/graph.h"

#include <algorithm>
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

namespace {

bool fully_known(std::span<const Spec> specs) {
  return std::ranges::all_of(specs, [](const Spec& spec) { return spec.shape.fully_known(); });
}

// Whether the shapes of a node's outputs depend on more than the shapes of its inputs.
bool makes_unknown(const Node& node, std::span<const Operand> inputs) {
  if (fully_known(node.outputs())) return false;
  const OpDef& op = node.op();
  return (op.compute != nullptr && !op.of_shape && !op.per_item) ||
         std::ranges::all_of(inputs,
                             [](const Operand& in) { return in.spec().shape.fully_known(); });
}

std::vector<std::vector<const Node*>> last_uses(std::span<const Scheduled> order,
                                                std::span<const Operand> results) {
  std::unordered_map<const Node*, std::size_t> last;
  for (std::size_t step = 0; step < order.size(); ++step) {
    for (const Operand& input : order[step].inputs) last[input.node.get()] = step;
  }
  for (const Operand& result : results) last.erase(result.node.get());
  std::vector<std::vector<const Node*>> out(order.size());
  // In the order of the steps, as everything here: not in that of addresses.
  for (std::size_t step = 0; step < order.size(); ++step) {
    for (const Operand& input : order[step].inputs) {
      const auto found = last.find(input.node.get());
      if (found == last.end() || found->second != step) continue;
      out[step].push_back(found->first);
      last.erase(found);
    }
  }
  return out;
}

}  // namespace

GraphPtr Graph::make(std::vector<NodePtr> parameters, std::vector<Operand> results) {
  auto graph = std::shared_ptr<Graph>(new Graph());
  graph->order_ = pending_nodes(results);
  graph->parameters_ = std::move(parameters);
  graph->results_ = std::move(results);
  for (const auto& [node, inputs] : graph->order_) {
    graph->stateful_ |= node->op().effect == Effect::kState;
    graph->fallible_ |= node->op().effect != Effect::kNone;
    graph->depends_ |= makes_unknown(*node, inputs);
  }
  graph->spent_ = last_uses(graph->order_, graph->results_);
  return graph;
}

Operand Rewiring::moved(const Operand& operand) const {
  if (const auto found = replaced_.find({operand.node.get(), operand.output});
      found != replaced_.end()) {
    return found->second;
  }
  const auto copy = copies_.find(operand.node.get());
  return copy == copies_.end() ? operand : Operand{copy->second, operand.output};
}

std::vector<Operand> Rewiring::moved(std::span<const Operand> operands) const {
  std::vector<Operand> out;
  out.reserve(operands.size());
  for (const Operand& operand : operands) out.push_back(moved(operand));
  return out;
}

Status Rewiring::run(std::span<const Scheduled> order) {
  for (const auto& [node, operands] : order) {
    SW_ASSIGN(copies_[node.get()],
              Node::make(node->op(), moved(operands), node->attrs(), node->site()));
  }
  return {};
}

Result<GraphPtr> compose(const Graph& inner, const Graph& outer) {
  if (inner.results().size() < outer.parameters().size()) {
    return internal_bug("compose: a function of ", outer.parameters().size(), " after one of ",
                        inner.results().size(), " results");
  }
  Rewiring rewiring;
  for (std::size_t i = 0; i < outer.parameters().size(); ++i) {
    rewiring.replace({outer.parameters()[i], 0}, inner.results()[i]);
  }
  SW_RETURN_IF_ERROR(rewiring.run(outer.order()));
  return Graph::make(inner.parameters(), rewiring.moved(outer.results()));
}

}  // namespace spillway::graph
