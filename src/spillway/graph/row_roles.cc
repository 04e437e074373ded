#include "spillway/graph/row_roles.h"

#include <algorithm>

#include "spillway/graph/fold.h"
#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

using Roles = std::optional<std::vector<Role>>;
constexpr std::int64_t kFewRows = 8;  // fewer are summed in lanes along k, see gemm.cc

bool plain_and_known(const Spec& spec) {
  return is_plain(spec.dtype) && spec.shape.has_rank() && spec.shape.fully_known();
}

// How an operand that broadcasts to `out` takes part.
Role broadcast_role(const Shape& in, const Shape& out) {
  return in.rank() == out.rank() && in[0] == out[0] ? Role::kRows : Role::kWhole;
}

Roles broadcast_roles(std::span<const Operand> inputs, const Shape& out) {
  std::vector<Role> roles;
  roles.reserve(inputs.size());
  for (const Operand& input : inputs) roles.push_back(broadcast_role(input.spec().shape, out));
  if (std::find(roles.begin(), roles.end(), Role::kRows) == roles.end()) return std::nullopt;
  return roles;
}

bool turned(const Attrs& attrs, std::string_view transpose, std::string_view adjoint) {
  return attrs.get_or(transpose, false) || attrs.get_or(adjoint, false);
}

Roles matmul_roles(const Node& node, std::span<const Operand> inputs, const Shape& out) {
  if (out.rank() > 2) return broadcast_roles(inputs, out);
  if (turned(node.attrs(), "transpose_a", "adjoint_a")) return std::nullopt;
  return std::vector<Role>{Role::kRows, Role::kWhole};
}

// Ops along one axis, which must not be the leading one.
bool other_axis(const Node& node, int rank, std::int64_t fallback) {
  const auto axis = resolve_axis(node.attrs().get_or<std::int64_t>("axis", fallback), rank);
  return axis.ok() && axis.value() != 0;
}

Roles kernel_roles(const Node& node, std::span<const Operand> inputs, const Shape& out) {
  const std::string_view name = node.op().name;
  if (name == "matmul") return matmul_roles(node, inputs, out);
  if (name == "fill") return std::vector<Role>{Role::kShape, Role::kWhole};
  if (name == "broadcast_to") {
    return std::vector<Role>{broadcast_role(inputs[0].spec().shape, out), Role::kShape};
  }
  if (name == "softmax" || name == "log_softmax" || name == "sort") {
    if (!other_axis(node, out.rank(), -1)) return std::nullopt;
    return std::vector<Role>{Role::kRows};
  }
  if (name == "concat") {
    if (!other_axis(node, out.rank(), 0)) return std::nullopt;
    return std::vector<Role>(inputs.size(), Role::kRows);
  }
  if (name == "transpose") {
    const Tensor* perm = inputs.size() > 1 ? inputs[1].value() : nullptr;
    if (perm == nullptr || integers_of(*perm)[0] != 0) return std::nullopt;
    return std::vector<Role>{Role::kRows, Role::kWhole};
  }
  if (!node.op().rows || inputs.empty()) return std::nullopt;
  const Shape& first = inputs[0].spec().shape;
  if (first.rank() < 1 || first[0] != out[0]) return std::nullopt;
  std::vector<Role> roles(inputs.size(), Role::kWhole);
  roles[0] = Role::kRows;
  return roles;
}

Roles view_roles(const Node& node, std::span<const Operand> inputs, const Shape& out) {
  const Shape& in = inputs[0].spec().shape;
  if (in.rank() < 1 || in[0] != out[0]) return std::nullopt;
  std::vector<Role> roles(inputs.size(), Role::kWhole);
  roles[0] = Role::kRows;
  if (node.op().name == "reshape") roles[1] = Role::kShape;
  return roles;
}

Roles fold_roles(const Node& node, std::span<const Operand> inputs) {
  const auto axes = fold_axes(node.attrs(), inputs[0].spec().shape.rank());
  if (!axes.ok() || axes.value().empty() || axes.value()[0] == 0) return std::nullopt;
  return std::vector<Role>{Role::kRows};
}

}  // namespace

Roles row_roles(const Node& node, std::span<const Operand> inputs) {
  const OpDef& op = node.op();
  if (op.effect != Effect::kNone || node.outputs().size() != 1) return std::nullopt;
  const Shape& out = node.outputs()[0].shape;
  if (!plain_and_known(node.outputs()[0]) || out.rank() < 1 || out[0] < 2) return std::nullopt;
  for (const Operand& input : inputs) {
    if (!plain_and_known(input.spec())) return std::nullopt;
  }
  if (op.loop != nullptr && inputs.empty()) {
    const bool source = node.attrs().has("seed") && !node.attrs().get_or("per_row", false);
    return source ? Roles(std::vector<Role>()) : std::nullopt;
  }
  if (op.loop != nullptr) return broadcast_roles(inputs, out);
  if (op.fold != nullptr) return fold_roles(node, inputs);
  if (op.view) return view_roles(node, inputs, out);
  if (op.prepare != nullptr) return kernel_roles(node, inputs, out);
  return std::nullopt;
}

Result<NodePtr> sliced(const Node& node, std::span<const Role> roles, std::vector<Operand> inputs,
                       std::int64_t rows, const AccountPtr& account) {
  const Spec& whole = node.outputs()[0];
  const Shape shape = whole.shape.without_leading().with_leading(rows);
  Attrs attrs;
  for (const auto& [name, value] : node.attrs().items()) {
    const bool own = roles.empty() && name == "shape";
    attrs.set(name, own ? Attr(shape) : value);
  }
  const bool source = std::find(roles.begin(), roles.end(), Role::kRows) == roles.end();
  if (source) attrs.set(kSliced, Attr(true));
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] != Role::kShape) continue;
    SW_ASSIGN(Tensor dims,
              make_tensor(account, DType::kInt64, Shape({shape.rank()}), Buffer::Ask::kOwed));
    std::copy(shape.dims().begin(), shape.dims().end(),
              reinterpret_cast<std::int64_t*>(dims.mutable_data()));
    inputs[i] = {Node::constant(std::move(dims)), 0};
  }
  SW_ASSIGN(NodePtr made, Node::make(node.op(), std::move(inputs), std::move(attrs), node.site()));
  if (made->outputs()[0].shape == shape) return made;
  return internal_bug(node.op().name, ": rows of ", whole.to_string(), " were inferred as ",
                      made->outputs()[0].to_string());
}

std::int64_t least_rows(const Node& node, std::span<const Operand> inputs) {
  const Shape& out = node.outputs()[0].shape;
  const bool lanes = node.op().name == "matmul" && out.rank() == 2 && inputs.size() == 2 &&
                     turned(node.attrs(), "transpose_b", "adjoint_b");
  return lanes ? std::min(kFewRows, out[0]) : 1;
}

}  // namespace spillway::graph
