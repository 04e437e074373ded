#include "spillway/graph/sliced_rows.h"

#include <algorithm>
#include <cstring>

namespace spillway::graph {
namespace {

constexpr std::size_t kMostPlans = 4;
constexpr std::int64_t kWeighted = 256;  // rows of a product in memory with a matrix they share

BufferPtr borrowed(std::byte* data, std::size_t bytes) {
  return std::make_shared<Buffer>(Buffer::adopt(data, bytes, nullptr));
}

}  // namespace

SlicedRows::SlicedRows(RowSteps steps, AccountPtr account)
    : Rows(steps.steps.back().node->outputs()[0]),
      steps_(std::move(steps)),
      account_(std::move(account)) {
  for (const RowSteps::Step& step : steps_.steps) {
    least_ = std::max(least_, least_rows(*step.node, step.inputs));
    const bool weighted =
        step.node->op().name == "matmul" && step.node->outputs()[0].shape.rank() == 2;
    if (weighted) many_ = kWeighted;
  }
  for (const RowSteps::Leaf& leaf : steps_.leaves) {
    least_ = std::max(least_, leaf.rows->least());
    wants_many_ |= leaf.rows->wants_many();
  }
}

Result<std::shared_ptr<const Plan>> SlicedRows::plan(std::int64_t rows) {
  if (const auto found = plans_.find(rows); found != plans_.end()) return found->second;
  std::map<std::pair<const Node*, int>, Operand> moved;
  std::vector<NodePtr> parameters;
  std::vector<Spec> specs;
  const auto parameter = [&](const Operand& operand, Spec spec) {
    specs.push_back(spec);
    parameters.push_back(Node::parameter(std::move(spec), operand.node->site()));
    moved[{operand.node.get(), operand.output}] = {parameters.back(), 0};
  };
  for (const RowSteps::Leaf& leaf : steps_.leaves) {
    const Spec& whole = leaf.operand.spec();
    parameter(leaf.operand, {whole.dtype, whole.shape.without_leading().with_leading(rows)});
  }
  for (const RowSteps::Whole& whole : steps_.whole) parameter(whole.operand, whole.operand.spec());
  NodePtr root;
  for (const RowSteps::Step& step : steps_.steps) {
    std::vector<Operand> inputs;
    inputs.reserve(step.inputs.size());
    for (const Operand& input : step.inputs) {
      const auto found = moved.find({input.node.get(), input.output});
      inputs.push_back(found == moved.end() ? input : found->second);
    }
    SW_ASSIGN(root, sliced(*step.node, step.roles, std::move(inputs), rows, account_));
    moved[{step.node.get(), 0}] = {root, 0};
  }
  SW_ASSIGN(std::shared_ptr<const Plan> made,
            Plan::make(Graph::make(std::move(parameters), {{root, 0}}), specs, account_,
                       steps_.whole.size()));
  if (plans_.size() >= kMostPlans) plans_.erase(plans_.begin());
  return plans_[rows] = std::move(made);
}

Result<std::size_t> SlicedRows::held(std::int64_t most) {
  SW_ASSIGN(const std::shared_ptr<const Plan> plan, this->plan(most));
  if (plan == nullptr) return SIZE_MAX / 2;
  std::size_t bytes = plan->working_bytes();
  for (const RowSteps::Leaf& leaf : steps_.leaves) {
    SW_ASSIGN(const std::size_t below, leaf.rows->held(most));
    bytes += below;
    if (leaf.rows->in_memory()) continue;
    bytes += charge_of(static_cast<std::size_t>(most) * leaf.rows->row_bytes());
  }
  return std::min(bytes, SIZE_MAX / 2);
}

Status SlicedRows::begin(std::int64_t most, const Paying& paying) {
  paying_ = paying;
  for (const RowSteps::Leaf& leaf : steps_.leaves) {
    SW_RETURN_IF_ERROR(leaf.rows->begin(most, paying));
    BufferPtr room;
    if (!leaf.rows->in_memory()) {
      SW_ASSIGN(room,
                Buffer::share(paying.account,
                              static_cast<std::size_t>(most) * leaf.rows->row_bytes(), paying.ask));
    }
    room_.push_back(std::move(room));
  }
  return {};
}

Result<Tensor> SlicedRows::leaf_rows(std::size_t leaf, std::int64_t first, std::int64_t n) {
  Rows& rows = *steps_.leaves[leaf].rows;
  const Shape shape = rows.spec().shape.without_leading().with_leading(n).with_leading(1);
  const std::size_t bytes = static_cast<std::size_t>(n) * rows.row_bytes();
  if (rows.in_memory()) {
    return Tensor(rows.spec().dtype, shape,
                  borrowed(const_cast<std::byte*>(rows.at(first)), bytes));
  }
  SW_RETURN_IF_ERROR(rows.make(first, n, room_[leaf]->data()));
  room_[leaf]->touch();
  return Tensor(rows.spec().dtype, shape, room_[leaf]);
}

Status SlicedRows::make(std::int64_t first, std::int64_t n, std::byte* to) {
  SW_ASSIGN(const std::shared_ptr<const Plan> plan, this->plan(n));
  std::vector<Tensor> parameters;
  for (std::size_t i = 0; i < steps_.leaves.size(); ++i) {
    SW_ASSIGN(Tensor rows, leaf_rows(i, first, n));
    parameters.push_back(std::move(rows));
  }
  for (const RowSteps::Whole& whole : steps_.whole) parameters.push_back(*whole.value);
  const std::size_t bytes = static_cast<std::size_t>(n) * row_bytes();
  Plan::Request request;
  request.parameters = parameters;
  request.account = paying_.account;
  request.ask = paying_.ask;
  request.call.first_row = first;
  request.places = {Tensor(spec().dtype,
                           spec().shape.without_leading().with_leading(n).with_leading(1),
                           borrowed(to, bytes))};
  Plan::Outcome outcome = plan->run(request);
  SW_RETURN_IF_ERROR(std::move(outcome.error));
  if (outcome.results[0].data() != to) std::memcpy(to, outcome.results[0].data(), bytes);
  return {};
}

void SlicedRows::end() {
  for (const RowSteps::Leaf& leaf : steps_.leaves) leaf.rows->end();
  room_.clear();
}

}  // namespace spillway::graph
