#include "spillway/graph/evaluate.h"

#include <algorithm>

#include "spillway/base/few.h"
#include "spillway/graph/ladder.h"
#include "spillway/graph/refusal.h"
#include "spillway/graph/run_op.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kSmall = 64 * 1024;

Status where(Status status, const Node& node) {
  if (status.ok()) return status;
  ErrorInfo& info = status.edit();
  if (info.line.empty()) info.line = node.line();
  return status;
}

// One op on known values. `known`: its outputs, where they were inferred from these values.
Status evaluate_one(const Node& node, std::span<const Tensor> inputs, const AccountPtr& account,
                    Buffer::Ask ask, std::span<const Spec> known = {}) {
  auto made = run_op(node.op(), inputs, node.attrs(), account, ask, {}, known);
  if (!made.ok()) return where(std::move(made).status().at(node.op().name), node);
  node.set_values(std::move(made).value());
  return {};
}

// One that is scheduled, whose inputs have run.
Status evaluate_one(const Scheduled& each, const AccountPtr& account, Buffer::Ask ask) {
  std::vector<Tensor> inputs;
  inputs.reserve(each.inputs.size());
  for (const Operand& input : each.inputs) inputs.push_back(*input.value());
  return evaluate_one(*each.node, inputs, account, ask);
}

// Op by op: where a shape depends on values.
Status evaluate_each(const std::vector<Scheduled>& order, const AccountPtr& account,
                     Buffer::Ask ask) {
  for (const Scheduled& each : order) SW_RETURN_IF_ERROR(evaluate_one(each, account, ask));
  return {};
}

// Gives the nodes of `roots`, every output of each, their values.
void keep(std::span<const Operand> roots, std::vector<Tensor>& all) {
  for (std::size_t i = 0; i < roots.size();) {
    const Node& node = *roots[i].node;
    std::vector<Tensor> values;
    for (std::size_t k = 0; k < node.outputs().size(); ++k, ++i) values.push_back(all[i]);
    node.set_values(std::move(values));
  }
}

// A node that stands alone.
Status evaluate_alone(const Node& node, const AccountPtr& account, Buffer::Ask ask) {
  Few<Tensor, 4> inputs(node.arity());
  const bool pending = node.take_inputs([&](const Tensor& value) { inputs.emplace_back(value); });
  if (!pending) return {};  // another thread was faster
  return evaluate_one(node, inputs, account, ask, node.inferred());
}

// Whether a node was made of known values and is small: nothing to plan.
bool stands_alone(const Node& node) {
  return !node.symbolic() && !node.evaluated() && node.pending() <= 1 && is_small(node);
}

}  // namespace

bool is_small(const Node& node) {
  std::size_t bytes = 0;
  for (const Spec& spec : node.outputs()) {
    if (!spec.shape.fully_known()) return false;
    bytes += bytes_of(spec);
    if (bytes > kSmall) return false;
  }
  return true;
}

bool evaluate_at_once(const Node& node) {
  if (node.symbolic()) return false;
  if (node.op().effect != Effect::kNone || node.pending() >= Node::kMostPending) return true;
  if (node.pending() > 1) return false;
  const auto unknown = [](const Spec& spec) { return !spec.shape.fully_known(); };
  return is_small(node) || std::any_of(node.outputs().begin(), node.outputs().end(), unknown);
}

Status evaluate(std::span<const Operand> roots, const AccountPtr& account, Buffer::Ask ask) {
  if (roots.size() == 1 && stands_alone(*roots[0].node)) {
    return evaluate_alone(*roots[0].node, account, ask);
  }
  SW_ASSIGN(std::vector<Operand> pending, pending_roots(roots));
  if (pending.empty()) return {};
  std::vector<Scheduled> order = pending_nodes(pending);
  const std::size_t limit = Budget::process().limit();
  if (const std::size_t bytes = bytes_of(pending); bytes > limit) {
    return too_large(order, pending, bytes, limit, account);
  }
  SW_RETURN_IF_ERROR(read_back(order, account, ask));
  SW_ASSIGN(const Decision how, decide(std::move(pending), std::move(order), account));
  if (how.op_by_op) return evaluate_each(how.order, account, ask);
  if (how.refused()) return too_large(how.order, how.roots, how.needed, limit, account);
  if (how.fitted()) {
    SW_ASSIGN(std::vector<Tensor> values, how.fit->run({account, ask}));
    keep(how.roots, values);
    return {};
  }
  Plan::Request request;
  request.account = account;
  request.ask = ask;
  Plan::Outcome outcome = how.plan->run(request);
  if (!outcome.error.ok()) return where(std::move(outcome.error), *how.roots[0].node);
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    outcome.results[i] = outcome.results[i].reshaped(how.plan->results()[i].shape);
  }
  keep(how.roots, outcome.results);
  return {};
}

}  // namespace spillway::graph
