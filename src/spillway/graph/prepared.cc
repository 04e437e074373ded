#include "spillway/graph/prepared.h"

#include <algorithm>
#include <unordered_set>

#include "spillway/graph/evaluate.h"
#include "spillway/graph/interpret.h"
#include "spillway/graph/random_source.h"
#include "spillway/graph/refusal.h"
#include "spillway/graph/spilled.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kMostPlans = 8;

bool same(std::span<const Spec> specs, std::span<const Tensor> values) {
  return std::equal(specs.begin(), specs.end(), values.begin(), values.end(),
                    [](const Spec& spec, const Tensor& value) {
                      return spec.dtype == value.dtype() && spec.shape == value.shape();
                    });
}

bool is_parameter(const Operand& operand) { return &operand.node->op() == &parameter_op; }

// The parameters below the results that nobody gives a value.
Status all_given(std::span<const Scheduled> order, std::span<const Operand> results,
                 std::span<const NodePtr> parameters) {
  std::unordered_set<const Node*> known;
  for (const NodePtr& parameter : parameters) known.insert(parameter.get());
  const auto missing = [&](const Operand& operand) {
    return is_parameter(operand) && !known.contains(operand.node.get());
  };
  const auto report = [](const Operand& operand) {
    return invalid_argument("a value is needed that does not come with the call: ",
                            operand.spec().to_string(), " ", operand.node->line());
  };
  for (const Scheduled& each : order) {
    for (const Operand& input : each.inputs) {
      if (missing(input)) return report(input);
    }
  }
  for (const Operand& result : results) {
    if (missing(result)) return report(result);
  }
  return {};
}

// The attributes of an op that draws for each row, for the one row of a call.
Attrs drawn_in(const Call& call, const Attrs& attrs) {
  const RandomSource source = source_of(attrs, Shape());
  Attrs out;
  for (const auto& [name, value] : attrs.items()) {
    if (name != "per_row" && name != "seed2") out.set(name, value);
  }
  out.set("seed2", Attr(static_cast<std::int64_t>(row_stream(source, call, 0))));
  return out;
}

}  // namespace

Result<std::shared_ptr<Prepared>> Prepared::make(std::vector<Operand> given,
                                                 std::vector<Operand> results,
                                                 const AccountPtr& account) {
  for (const Scheduled& each : pending_nodes(results)) {
    if (&each.node->op() != &unspill_op) continue;
    const Operand stored{each.node, 0};
    SW_RETURN_IF_ERROR(evaluate({&stored, 1}, account));
  }
  std::vector<NodePtr> parameters;
  Rewiring rewiring;
  bool rewired = false;
  for (const Operand& operand : given) {
    if (is_parameter(operand)) {
      parameters.push_back(operand.node);
      continue;
    }
    parameters.push_back(Node::parameter(operand.spec(), operand.node->site()));
    rewiring.replace(operand, {parameters.back(), 0});
    rewired = true;
  }
  if (rewired) {
    SW_RETURN_IF_ERROR(rewiring.run(pending_nodes(results)));
    results = rewiring.moved(results);
  }
  GraphPtr graph = Graph::make(std::move(parameters), std::move(results));
  SW_RETURN_IF_ERROR(all_given(graph->order(), graph->results(), graph->parameters()));
  return std::shared_ptr<Prepared>(new Prepared(std::move(graph)));
}

std::size_t Prepared::plans() const {
  const MutexLock lock(mutex_);
  return plans_.size();
}

void Prepared::drop_plans() {
  std::deque<Kept> dropped;  // goes outside the lock
  const MutexLock lock(mutex_);
  dropped.swap(plans_);
}

Result<std::shared_ptr<const Plan>> Prepared::plan_for(std::span<const Tensor> values,
                                                       const AccountPtr& account) {
  {
    const MutexLock lock(mutex_);
    for (auto at = plans_.begin(); at != plans_.end(); ++at) {
      if (!same(at->specs, values)) continue;
      std::rotate(plans_.begin(), at, at + 1);
      return plans_.front().plan;
    }
  }
  std::vector<Spec> specs;
  for (const Tensor& value : values) specs.push_back({value.dtype(), value.shape()});
  SW_ASSIGN(std::shared_ptr<const Plan> plan, Plan::make(graph_, specs, account));
  const MutexLock lock(mutex_);
  plans_.push_front({std::move(specs), plan});
  if (plans_.size() > kMostPlans) plans_.pop_back();
  return plan;
}

Status Prepared::told(Status status) const {
  if (!status.ok() && status.info().line.empty() && !graph_->results().empty()) {
    status.edit().line = graph_->results()[0].node->line();
  }
  return status;
}

Result<std::vector<Operand>> Prepared::bound(std::span<const Tensor> values,
                                             const Call& call) const {
  Rewiring rewiring;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const NodePtr& parameter = graph_->parameters()[i];
    rewiring.replace({parameter, 0}, {Node::constant(values[i], parameter->site()), 0});
  }
  for (const Scheduled& each : graph_->order()) {
    if (!each.node->attrs().get_or("per_row", false)) {
      SW_RETURN_IF_ERROR(rewiring.run({&each, 1}));
      continue;
    }
    SW_ASSIGN(NodePtr drawn, Node::make(each.node->op(), rewiring.moved(each.inputs),
                                        drawn_in(call, each.node->attrs()), each.node->site()));
    rewiring.replace({each.node, 0}, {std::move(drawn), 0});
  }
  return rewiring.moved(graph_->results());
}

Result<std::vector<Tensor>> Prepared::evaluated(std::span<const Tensor> values, const Call& call,
                                                const AccountPtr& account, Buffer::Ask ask) const {
  SW_ASSIGN(const std::vector<Operand> roots, bound(values, call));
  SW_RETURN_IF_ERROR(evaluate(roots, account, ask));
  std::vector<Tensor> out;
  out.reserve(roots.size());
  for (const Operand& root : roots) out.push_back(*root.value());
  return out;
}

Result<std::vector<Tensor>> Prepared::run(std::span<const Tensor> values, const Call& call,
                                          const AccountPtr& account, Buffer::Ask ask) {
  const std::size_t limit = Budget::process().limit();
  std::size_t made = 0;  // by results that take memory of their own
  for (const Operand& result : graph_->results()) {
    if (result.node->evaluated() || is_parameter(result)) continue;
    if (result.spec().shape.fully_known()) made += std::min(bytes_of(result.spec()), limit + 1);
  }
  if (made > limit) return evaluated(values, call, account, ask);
  auto planned = plan_for(values, account);
  if (!planned.ok()) return told(std::move(planned).status());
  if (planned.value() == nullptr) {
    auto done = interpret(*graph_, values, account, ask, call);
    if (!done.ok()) return told(std::move(done).status());
    return done;
  }
  const Plan& plan = *planned.value();
  if (plan.result_bytes() + plan.arena_bytes() > limit) {
    return evaluated(values, call, account, ask);
  }
  std::vector<Tensor> rows;
  rows.reserve(values.size());
  for (const Tensor& value : values) {
    rows.push_back(value.reshaped(value.shape().with_leading(1)));
  }
  Plan::Outcome outcome = plan.run({rows, 1, call, account, ask, {}});
  if (!outcome.error.ok()) return told(std::move(outcome.error));
  std::vector<Tensor> results;
  results.reserve(outcome.results.size());
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    results.push_back(outcome.results[i].reshaped(plan.results()[i].shape));
  }
  return results;
}

}  // namespace spillway::graph
