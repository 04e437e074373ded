#include "spillway/graph/node.h"

#include <algorithm>
#include <unordered_set>

#include "spillway/base/few.h"
#include "spillway/graph/control.h"
#include "spillway/graph/infer_outputs.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kFewInputs = 4;
std::atomic<std::int64_t> serials{0};

// Operands on their way out. Deep graphs must not recurse.
void release(std::vector<Operand> operands) {
  thread_local std::vector<Operand>* active = nullptr;
  if (std::all_of(operands.begin(), operands.end(), [](const Operand& operand) {
        return operand.node == nullptr || operand.node->evaluated();  // has none of its own
      })) {
    return;
  }
  if (active != nullptr) {
    for (Operand& operand : operands) active->push_back(std::move(operand));
    return;
  }
  std::vector<Operand> pending = std::move(operands);
  active = &pending;
  while (!pending.empty()) {
    const Operand last = std::move(pending.back());
    pending.pop_back();
  }
  active = nullptr;
}

// How many nodes have to run for `inputs`, each counted once; ends at kMostPending.
int count_pending(std::vector<Operand> inputs) {
  std::unordered_set<const Node*> seen;
  while (!inputs.empty() && seen.size() < Node::kMostPending) {
    const NodePtr node = std::move(inputs.back().node);
    inputs.pop_back();
    if (seen.contains(node.get())) continue;
    if (const auto more = node->pending_inputs()) {
      seen.insert(node.get());
      inputs.insert(inputs.end(), more->begin(), more->end());
    }
  }
  return static_cast<int>(seen.size());
}

std::string name_operands(std::span<const Operand> inputs) {
  std::string text;
  for (std::size_t i = 0; i < inputs.size() && i < 6; ++i) {
    text += "\n  operand ";
    text += std::to_string(i) + ": " + inputs[i].spec().to_string();
    if (const std::string line = inputs[i].node->line(); !line.empty()) text += ", made at " + line;
  }
  return text;
}

std::optional<std::int64_t> integer(const Tensor& value, std::int64_t i) {
  if (value.dtype() == DType::kInt32) return value.as<std::int32_t>()[i];
  if (value.dtype() == DType::kInt64) return value.as<std::int64_t>()[i];
  return std::nullopt;
}

// A scalar operand as a dimension: known, or kUnknownDim.
std::int64_t value_as_dim(const Operand& operand) {
  if (const Tensor* value = operand.value()) {
    if (value->count() != 1) return kUnknownDim;
    return integer(*value, 0).value_or(kUnknownDim);
  }
  const Node& node = *operand.node;
  const std::vector<Operand> inputs = node.inputs();
  if (node.op().name == "cast" && inputs.size() == 1) return value_as_dim(inputs[0]);
  if (node.op().name == "strided_slice" && operand.spec().shape.rank() == 0) {
    const auto shape = value_as_shape(inputs[0]);
    const Tensor* begin = inputs[1].value();
    if (shape && shape->has_rank() && begin != nullptr && begin->count() == 1) {
      std::int64_t at = integer(*begin, 0).value_or(0);
      if (at < 0) at += shape->rank();
      if (at >= 0 && at < shape->rank()) return (*shape)[static_cast<int>(at)];
    }
  }
  return kUnknownDim;
}

}  // namespace

std::optional<Shape> shape_from(const Tensor& value) {
  if (value.shape().rank() > 1 || value.count() > 254) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (std::int64_t i = 0; i < value.count(); ++i) {
    const auto dim = integer(value, i);
    if (!dim) return std::nullopt;
    dims.push_back(*dim < 0 ? kUnknownDim : *dim);
  }
  return Shape(std::span<const std::int64_t>(dims));
}

std::string Spec::to_string() const {
  return std::string(name_of(dtype)) + " " + shape.to_string();
}

std::optional<Shape> value_as_shape(const Operand& operand) {
  const Spec& spec = operand.spec();
  if (!is_integer(spec.dtype)) return std::nullopt;
  if (const Tensor* value = operand.value()) return shape_from(*value);
  const Node& node = *operand.node;
  const std::vector<Operand> inputs = node.inputs();
  if (node.op().name == "shape") {
    const Shape& shape = inputs[0].spec().shape;
    return shape.has_rank() ? std::optional(shape) : std::nullopt;
  }
  if (node.op().name == "cast") return value_as_shape(inputs[0]);
  if (node.op().name == "stack" && spec.shape.rank() == 1) {
    std::vector<std::int64_t> dims;
    dims.reserve(inputs.size());
    for (const Operand& input : inputs) dims.push_back(value_as_dim(input));
    return Shape(std::span<const std::int64_t>(dims));
  }
  if (node.op().name == "concat") {
    std::vector<std::int64_t> dims;
    for (const Operand& input : inputs) {
      if (input.spec().shape.rank() == 0) continue;  // the axis
      const auto part = value_as_shape(input);
      if (!part || !part->has_rank()) return std::nullopt;
      dims.insert(dims.end(), part->dims().begin(), part->dims().end());
    }
    return Shape(std::span<const std::int64_t>(dims));
  }
  if (spec.shape.rank() == 1 && spec.shape[0] >= 0 && spec.shape[0] < 64) {
    return Shape(std::span<const std::int64_t>(
        std::vector<std::int64_t>(static_cast<std::size_t>(spec.shape[0]), kUnknownDim)));
  }
  return std::nullopt;
}

Node::Node(const OpDef& op, std::vector<Operand> inputs, Attrs attrs, SitePtr site)
    : op_(&op),
      attrs_(std::move(attrs)),
      site_(std::move(site)),
      serial_(serials.fetch_add(1, std::memory_order_relaxed)),
      arity_(inputs.size()),
      inputs_(std::move(inputs)) {}

struct Node::Made final : Node {
  template <class... Args>
  explicit Made(const OpDef& op, Args&&... args) : Node(op, std::forward<Args>(args)...) {}
};

std::int64_t next_serial() { return serials.load(std::memory_order_relaxed); }

Result<NodePtr> Node::make(const OpDef& op, std::vector<Operand> inputs, Attrs attrs,
                           SitePtr site) {
  Few<Spec, kFewInputs> specs(inputs.size());
  Few<const Tensor*, kFewInputs> constants(inputs.size());
  Few<std::optional<Shape>, kFewInputs> shapes(inputs.size());
  bool symbolic = attrs.get_or("per_row", false);  // drawn in a call, for its rows
  int pending = 1;
  for (const Operand& input : inputs) {
    const Spec& spec = specs.emplace_back(input.spec());
    constants.emplace_back(input.value());
    shapes.emplace_back(spec.shape.rank() <= 1 ? value_as_shape(input) : std::nullopt);
    symbolic |= input.node->symbolic();
    if (!input.node->evaluated()) pending = std::min(pending + input.node->pending(), kMostPending);
  }
  // What two inputs both need was counted twice, and so again with every block of a network.
  if (pending >= kMostPending && !symbolic) pending = 1 + count_pending(inputs);
  Infer infer(specs, constants, shapes, attrs);
  if (Status status = infer_outputs(op, infer); !status.ok()) {
    // In TensorFlow a ValueError inside a function, an InvalidArgumentError outside: here both.
    const bool plain = status.info().type.empty() && status.code() == Code::kInvalidArgument;
    if (plain) status.edit().type = "ValueError";
    status.edit().message =
        std::string(op.name) + ": " + status.edit().message + name_operands(inputs);
    if (status.info().line.empty() && site != nullptr) status.edit().line = site->describe();
    return status;
  }
  auto node = std::make_shared<Made>(op, std::move(inputs), std::move(attrs), std::move(site));
  node->inferred_ = std::move(infer.outputs());
  node->symbolic_ = symbolic;
  node->pending_ = pending;
  return NodePtr(std::move(node));
}

NodePtr Node::constant(Tensor value, SitePtr site) {
  auto node = std::make_shared<Made>(constant_op, std::vector<Operand>(), Attrs(), std::move(site));
  node->inferred_.push_back(Spec{value.dtype(), value.shape()});
  node->values_.push_back(std::move(value));
  node->evaluated_.store(true, std::memory_order_release);
  return node;
}

NodePtr Node::deferred(const Node& node) {
  auto copy = std::make_shared<Made>(*node.op_, node.inputs(), node.attrs_, node.site_);
  copy->inferred_ = node.inferred_;
  copy->symbolic_ = true;
  copy->pending_ = node.pending_;
  return copy;
}

NodePtr Node::parameter(Spec spec, SitePtr site) {
  auto node =
      std::make_shared<Made>(parameter_op, std::vector<Operand>(), Attrs(), std::move(site));
  node->inferred_.push_back(std::move(spec));
  node->symbolic_ = true;
  return node;
}

Node::~Node() {
  if (!inputs_.empty()) release(std::move(inputs_));
}

std::vector<Operand> Node::inputs() const {
  const MutexLock lock(mutex_);
  return inputs_;
}

std::optional<std::vector<Operand>> Node::pending_inputs() const {
  const MutexLock lock(mutex_);
  if (evaluated_.load(std::memory_order_relaxed)) return std::nullopt;
  return inputs_;
}

void Node::set_values(std::vector<Tensor> values) const {
  std::vector<Operand> inputs;
  {
    const MutexLock lock(mutex_);
    if (evaluated_.load(std::memory_order_relaxed)) return;
    values_ = std::move(values);
    const auto as_inferred = [](const Tensor& value, const Spec& spec) {
      return value.dtype() == spec.dtype && value.shape() == spec.shape;
    };
    if (!std::ranges::equal(values_, inferred_, as_inferred)) {
      for (const Tensor& value : values_) known_.push_back({value.dtype(), value.shape()});
    }
    inputs.swap(inputs_);
    evaluated_.store(true, std::memory_order_release);
  }
  if (!inputs.empty()) release(std::move(inputs));
}

constexpr OpDef constant_op{.name = "constant", .summary = "A value that is known.", .params = {}};
constexpr OpDef parameter_op{
    .name = "parameter", .summary = "A value that comes with a call.", .params = {}};

}  // namespace spillway::graph
