#include "spillway/graph/evaluate.h"

#include <algorithm>

#include "spillway/graph/plan.h"
#include "spillway/graph/refusal.h"
#include "spillway/graph/run_op.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kSmall = 64 * 1024;
constexpr int kMostPending = 1000;

Status where(Status status, const Node& node) {
  if (status.ok()) return status;
  ErrorInfo& info = status.edit();
  if (info.line.empty()) info.line = node.line();
  return status;
}

// Op by op: where a shape depends on values, or there is only one op.
Status evaluate_each(const std::vector<NodePtr>& order, const AccountPtr& account,
                     Buffer::Ask ask) {
  for (const NodePtr& node : order) {
    std::vector<Tensor> inputs;
    for (const Operand& input : node->inputs()) inputs.push_back(*input.value());
    auto made = run_op(node->op(), inputs, node->attrs(), account, ask);
    if (!made.ok()) {
      return where(std::move(made).status().at(node->op().name), *node);
    }
    node->set_values(std::move(made).value());
  }
  return {};
}

}  // namespace

bool evaluate_at_once(const Node& node) {
  if (node.symbolic()) return false;
  if (node.op().effect != Effect::kNone || node.pending() >= kMostPending) return true;
  if (node.pending() > 1) return false;
  std::size_t bytes = 0;
  for (const Spec& spec : node.outputs()) {
    if (!spec.shape.fully_known()) return true;
    bytes += bytes_of(spec);
    if (bytes > kSmall) return false;
  }
  return true;
}

Status evaluate(std::span<const Operand> roots, const AccountPtr& account, Buffer::Ask ask) {
  std::vector<Operand> pending;  // every output of each root: a node keeps all its values or none
  for (const Operand& root : roots) {
    const Node& node = *root.node;
    if (node.symbolic()) {
      return Status::error(ErrorKind::kUser, Code::kInvalidArgument,
                           "a tensor inside a traced function has no value yet");
    }
    const bool twice = std::any_of(pending.begin(), pending.end(),
                                   [&](const Operand& other) { return other.node == root.node; });
    if (node.evaluated() || twice) continue;
    const int outputs = static_cast<int>(node.outputs().size());
    for (int i = 0; i < outputs; ++i) pending.push_back({root.node, i});
  }
  if (pending.empty()) return {};
  const std::vector<NodePtr> order = pending_nodes(pending);
  const std::size_t limit = Budget::process().limit();
  if (const std::size_t bytes = bytes_of(pending); bytes > limit) {
    return too_large(order, pending, bytes, limit);
  }
  // One small op needs no plan; a large loop is spread over the CPUs by one.
  if (order.size() == 1 && (order[0]->op().loop == nullptr || bytes_of(pending) <= kSmall)) {
    return evaluate_each(order, account, ask);
  }
  SW_ASSIGN(const std::shared_ptr<const Plan> plan,
            Plan::make(Graph::make({}, pending), {}, account));
  if (plan == nullptr) return evaluate_each(order, account, ask);
  const std::size_t needed = plan->result_bytes() + plan->arena_bytes();
  if (needed > limit) return too_large(order, pending, needed, limit);
  Plan::Request request;
  request.account = account;
  request.ask = ask;
  Plan::Outcome outcome = plan->run(request);
  if (!outcome.error.ok()) return where(std::move(outcome.error), *pending[0].node);
  for (std::size_t i = 0; i < pending.size();) {
    const Node& node = *pending[i].node;
    std::vector<Tensor> values;
    for (std::size_t k = 0; k < node.outputs().size(); ++k, ++i) {
      values.push_back(outcome.results[i].reshaped(plan->results()[i].shape));
    }
    node.set_values(std::move(values));
  }
  return {};
}

}  // namespace spillway::graph
