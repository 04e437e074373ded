#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"
#include "spillway/tensor/extent.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  const Shape& given = c.input(1).shape;
  std::int64_t rank = in.rank();
  if (given.has_rank()) {
    if (given.rank() != 1) {
      return invalid_argument("Expected multiples to be 1-D, but got shape ", given.bracketed());
    }
    if (rank >= 0 && given[0] >= 0 && given[0] != rank) {
      return invalid_argument("Expected multiples argument to be a vector of length ", rank,
                              " but got length ", given[0]);
    }
    if (rank < 0) rank = given[0];
  }
  if (rank < 0) {
    c.set(0, c.input(0).dtype, Shape::unknown_rank());
    return {};
  }
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), kUnknownDim);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const int axis = static_cast<int>(i);
    std::int64_t times = kUnknownDim;
    if (const Tensor* value = c.constant(1)) {
      times = integer_at(value->dtype(), value->data(), axis);
      if (times < 0) {
        return invalid_argument("Expected multiples[", axis, "] >= 0, but got ", times);
      }
    } else if (c.as_shape(1) && c.as_shape(1)->rank() == rank) {
      times = (*c.as_shape(1))[axis];
    }
    if (times == 0) dims[i] = 0;
    if (in.has_rank() && in[axis] >= 0 && times >= 0) dims[i] = saturated_product(in[axis], times);
  }
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const Shape& out = p.outputs[0].shape;
  const std::size_t item = size_of(p.inputs[0].dtype);
  const std::vector<std::int64_t> from = byte_strides(in, item);
  const std::vector<std::int64_t> to = byte_strides(out, item);
  Box box(item);
  for (int i = 0; i < in.rank(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    box.axis(in[i] == 0 ? 0 : out[i] / in[i], 0, in[i] * to[at]);
    box.axis(in[i], from[at], to[at]);
  }
  return make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
    box.copy(src[0], dst[0]);
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"multiples", ParamKind::kTensor, "", 'n'}};

}  // namespace

extern constexpr OpDef tile_op{.name = "tile",
                               .summary = "The tensor repeated along each axis.",
                               .params = kParams,
                               .paths = "tile",
                               .infer = infer,
                               .prepare = prepare};
extern constexpr OpDef tile_strings_op = string_twin<tile_op>("tile_strings");

}  // namespace spillway::graph
