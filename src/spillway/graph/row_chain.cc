#include "spillway/graph/row_chain.h"

#include <algorithm>
#include <unordered_map>

namespace spillway::graph {
namespace {

// Who uses a node's value. A result counts as one use more, which is no step.
struct Use {
  std::size_t step = 0;
  std::size_t operand = 0;
};
class Uses {
 public:
  explicit Uses(const Graph& graph) {
    for (std::size_t step = 0; step < graph.order().size(); ++step) {
      const auto& inputs = graph.order()[step].inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        by_node_[inputs[i].node.get()].push_back({step, i});
      }
    }
    for (const Operand& result : graph.results()) results_.insert(result.node.get());
  }
  // The last step that uses a value.
  std::size_t last(const Node* node) const {
    std::size_t step = 0;
    for (const Use& use : by_node_.at(node)) step = std::max(step, use.step);
    return step;
  }
  // The one use of a value, beside those by ops of its shape where `shapes` allows them.
  const Use* only(const Graph& graph, const Node* node, bool shapes) const {
    const auto found = by_node_.find(node);
    if (found == by_node_.end() || results_.contains(node)) return nullptr;
    const Use* one = nullptr;
    for (const Use& use : found->second) {
      if (shapes && graph.order()[use.step].node->op().of_shape) continue;
      if (one != nullptr) return nullptr;
      one = &use;
    }
    return one;
  }

 private:
  std::unordered_map<const Node*, std::vector<Use>> by_node_;
  std::unordered_set<const Node*> results_;
};

bool turns_columns(const Attrs& attrs) {
  const auto axes = attrs.get_or<std::vector<std::int64_t>>("axis", {});
  return axes.size() == 1 && (axes[0] == -2 || axes[0] == 1);
}

}  // namespace

LinkKind link_kind(const Node& node, std::size_t operand) {
  const OpDef& op = node.op();
  if (op.effect != Effect::kNone || op.outputs != 1) return LinkKind::kNone;
  if (op.loop != nullptr) return LinkKind::kItems;
  if (operand != 0) return LinkKind::kNone;
  if (op.name == "identity" || op.name == "stop_gradient") return LinkKind::kItems;
  if (op.name == "slice") return LinkKind::kCrop;
  if (op.name == "reverse" || op.name == "reverse_if") {
    return turns_columns(node.attrs()) ? LinkKind::kTurn : LinkKind::kNone;
  }
  return op.name.starts_with("resize_") ? LinkKind::kResize : LinkKind::kNone;
}

RowChains::RowChains(const Graph& graph) : of_step_(graph.order().size()) {
  const Uses uses(graph);
  for (std::size_t step = 0; step < graph.order().size(); ++step) {
    const Node* node = graph.order()[step].node.get();
    RowChain chain{step, find_decode_op(node->op()), {}};
    if (chain.decodes == nullptr) continue;
    bool resized = false;
    while (const Use* use = uses.only(graph, node, chain.links.empty())) {
      node = graph.order()[use->step].node.get();
      const LinkKind kind = link_kind(*node, use->operand);
      if (kind == LinkKind::kNone || (kind == LinkKind::kResize && resized)) break;
      resized |= kind == LinkKind::kResize;
      chain.links.push_back({use->step, use->operand});
    }
    if (!chain.links.empty()) chains_.push_back(std::move(chain));
  }
  for (std::size_t step = 0; step < graph.order().size(); ++step) {
    spent_.push_back(graph.spent_after(step));
  }
  for (const RowChain& chain : chains_) {
    by_head_[graph.order()[chain.head].node.get()] = &chain;
    of_step_[chain.head] = &chain;
    std::unordered_set<const Node*> used;
    const auto note = [&](std::size_t step) {
      of_step_[step] = &chain;
      for (const Operand& input : graph.order()[step].inputs) used.insert(input.node.get());
    };
    note(chain.head);
    for (const RowChain::Link& link : chain.links) note(link.step);
    const std::size_t end = std::max(chain.tail(), uses.last(graph.order()[chain.head].node.get()));
    for (std::size_t step = chain.head; step < end; ++step) {
      const auto moved = std::ranges::partition(
          spent_[step], [&](const Node* spent) { return !used.contains(spent); });
      spent_[end].insert(spent_[end].end(), moved.begin(), moved.end());
      spent_[step].erase(moved.begin(), moved.end());
    }
  }
}

const RowChain* RowChains::headed_by(const Node* node) const {
  const auto found = by_head_.find(node);
  return found == by_head_.end() ? nullptr : found->second;
}

}  // namespace spillway::graph
