#include "spillway/graph/evaluate.h"

#include <algorithm>

#include "spillway/graph/plan.h"
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

// One op on known values. `known`: its outputs, where they were inferred from these values.
Status evaluate_one(const Node& node, const AccountPtr& account, std::span<const Spec> known) {
  const std::vector<Operand> operands = node.inputs();
  if (node.evaluated()) return {};  // another thread was faster, and the operands are gone
  std::vector<Tensor> inputs;
  inputs.reserve(operands.size());
  for (const Operand& input : operands) inputs.push_back(*input.value());
  auto made = run_op(node.op(), inputs, node.attrs(), account, Buffer::Ask::kRequired, {}, known);
  if (!made.ok()) return where(std::move(made).status().at(node.op().name), node);
  node.set_values(std::move(made).value());
  return {};
}

// Op by op: where a shape depends on values.
Status evaluate_each(const std::vector<NodePtr>& order, const AccountPtr& account) {
  for (const NodePtr& node : order) SW_RETURN_IF_ERROR(evaluate_one(*node, account, {}));
  return {};
}

// Whether a node was made of known values: nothing has to run before it.
bool stands_alone(const Node& node) {
  return !node.symbolic() && !node.evaluated() && node.pending() <= 1;
}

std::span<const Spec> known_outputs(const Node& node) {
  const auto known = [](const Spec& spec) { return spec.shape.fully_known(); };
  const std::vector<Spec>& all = node.outputs();
  return std::all_of(all.begin(), all.end(), known) ? std::span<const Spec>(all)
                                                    : std::span<const Spec>();
}

}  // namespace

bool evaluate_at_once(const Node& node) {
  if (node.symbolic()) return false;
  if (node.op().effect != Effect::kNone || node.pending() >= kMostPending) return true;
  if (node.pending() > 1) return false;
  std::size_t bytes = 0;
  for (const Spec& spec : node.outputs()) {
    if (!spec.shape.fully_known()) return true;
    bytes += static_cast<std::size_t>(spec.shape.count()) *
             std::max<std::size_t>(1, size_of(spec.dtype));
  }
  return bytes <= kSmall;
}

Status evaluate(std::span<const Operand> roots, const AccountPtr& account) {
  if (roots.size() == 1 && stands_alone(*roots[0].node)) {
    return evaluate_one(*roots[0].node, account, known_outputs(*roots[0].node));
  }
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
  if (order.size() <= 1) return evaluate_each(order, account);
  SW_ASSIGN(const std::shared_ptr<const Plan> plan,
            Plan::make(Graph::make({}, pending), {}, account));
  if (plan == nullptr) return evaluate_each(order, account);
  Plan::Request request;
  request.account = account;
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
