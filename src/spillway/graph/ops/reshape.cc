#include <algorithm>

#include "spillway/graph/op.h"
#include "spillway/tensor/extent.h"

namespace spillway::graph {
namespace {

Status wrong(const Shape& from, const Shape& to) {
  Status status =
      invalid_argument("Cannot reshape a tensor with ", from.count(), " elements to shape ",
                       to.bracketed(), " (the input has shape ", from.bracketed(), ")");
  status.edit().type = "ShapeError";
  return status;
}

// With one dimension not known, only multiples of the others can be reached.
Status out_of_reach(const Shape& from, const Shape& to) {
  std::int64_t step = 1;
  int unknown = 0;
  for (const std::int64_t dim : from.dims()) {
    unknown += dim == kUnknownDim ? 1 : 0;
    step = saturated_product(step, dim == kUnknownDim ? 1 : dim);
  }
  const std::int64_t wanted = to.count();
  if (unknown != 1 || (step == 0 ? wanted == 0 : wanted % step == 0)) return {};
  Status status =
      invalid_argument("Cannot reshape a tensor of shape ", from.bracketed(), " to shape ",
                       to.bracketed(), ": ", wanted, " elements must be divisible by ", step);
  status.edit().type = "ShapeError";
  return status;
}

Status infer(Infer& c) {
  const Shape& from = c.input(0).shape;
  if (!c.as_shape(1)) {
    const Shape& wanted = c.input(1).shape;
    const bool known = wanted.rank() == 1 && wanted[0] >= 0;
    c.set(0, c.input(0).dtype,
          known ? Shape(std::span<const std::int64_t>(
                      std::vector<std::int64_t>(static_cast<std::size_t>(wanted[0]), kUnknownDim)))
                : Shape::unknown_rank());
    return {};
  }
  std::vector<std::int64_t> dims(c.as_shape(1)->dims().begin(), c.as_shape(1)->dims().end());
  if (const Tensor* value = c.constant(1)) {  // where -1 is known to be meant
    for (std::int64_t i = 0; i < value->count(); ++i) {
      const std::int64_t dim = value->dtype() == DType::kInt32 ? value->as<std::int32_t>()[i]
                                                               : value->as<std::int64_t>()[i];
      if (dim < -1) return invalid_argument("Size ", i, " must be non-negative, not ", dim);
    }
    if (std::count(dims.begin(), dims.end(), kUnknownDim) > 1) {
      return invalid_argument("Only one input size may be -1");
    }
  }
  const auto hole = std::find(dims.begin(), dims.end(), kUnknownDim);
  const bool one_hole = std::count(dims.begin(), dims.end(), kUnknownDim) == 1;
  if (from.has_rank() && from.fully_known()) {
    std::int64_t known = 1;
    for (const std::int64_t dim : dims) {
      known = saturated_product(known, dim == kUnknownDim ? 1 : dim);
    }
    const Shape wanted{std::span<const std::int64_t>(dims)};
    if (one_hole) {
      if (known == 0 && from.count() == 0 && c.constant(1) != nullptr) {
        return invalid_argument("reshape cannot infer the missing input size for an empty tensor ",
                                "unless all specified input sizes are non-zero");
      }
      if (known == 0 || from.count() % known != 0) return wrong(from, wanted);
      *hole = from.count() / known;
    } else if (hole == dims.end() && known != from.count()) {
      return wrong(from, wanted);
    }
  } else if (from.has_rank() && hole == dims.end()) {
    Status status = out_of_reach(from, Shape{std::span<const std::int64_t>(dims)});
    if (!status.ok()) return status;
  }
  c.set(0, c.input(0).dtype, Shape(std::span<const std::int64_t>(dims)));
  return {};
}

constexpr ParamDef kParams[] = {{"tensor", ParamKind::kTensor},
                                {"shape", ParamKind::kTensor, "", 'n'}};

}  // namespace

extern constexpr OpDef reshape_op{
    .name = "reshape",
    .summary = "The same items under another shape; -1: what is left.",
    .params = kParams,
    .paths = "reshape",
    .infer = infer,
    .view = true};

}  // namespace spillway::graph
