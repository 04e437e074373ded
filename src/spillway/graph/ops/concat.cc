#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"
#include "spillway/tensor/extent.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (c.inputs() == 0) return invalid_argument("needs at least one value");
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  SW_RETURN_IF_ERROR(same_types(c));
  const std::int64_t given = c.attrs().get_or<std::int64_t>("axis", 0);
  int first = 0;
  while (first < c.inputs() && !c.input(first).shape.has_rank()) ++first;
  if (first == c.inputs()) {
    c.set(0, c.input(0).dtype, Shape::unknown_rank());
    return {};
  }
  const Shape& like = c.input(first).shape;
  if (like.rank() == 0) {
    return wrong_shape("ConcatOp : Can't concatenate scalars (use tf.stack instead)");
  }
  if (given < -like.rank() || given >= like.rank()) {
    return invalid_argument("ConcatOp : Expected concatenating dimensions in the range [",
                            -like.rank(), ", ", like.rank(), "), but got ", given);
  }
  const auto axis = static_cast<std::size_t>(given < 0 ? given + like.rank() : given);
  std::vector<std::int64_t> dims(static_cast<std::size_t>(like.rank()), kUnknownDim);
  dims[axis] = 0;
  for (int i = 0; i < c.inputs(); ++i) {
    const Shape& shape = c.input(i).shape;
    if (shape.has_rank() && shape.rank() != like.rank()) {
      return wrong_shape("ConcatOp : Ranks of all input tensors should match: shape[", first,
                         "] = ", like.bracketed(), " vs. shape[", i, "] = ", shape.bracketed());
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t dim = shape.has_rank() ? shape[static_cast<int>(d)] : kUnknownDim;
      if (d == axis) {
        dims[d] = dim < 0 || dims[d] < 0 ? kUnknownDim : saturated_sum(dims[d], dim);
      } else if (dims[d] == kUnknownDim) {
        dims[d] = dim;
      } else if (dim != kUnknownDim && dim != dims[d]) {
        return wrong_shape("ConcatOp : Dimension ", d, " in both shapes must be equal: shape[",
                           first, "] = ", like.bracketed(), " vs. shape[", i,
                           "] = ", shape.bracketed());
      }
    }
  }
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  SW_ASSIGN(const int axis,
            resolve_axis(p.attrs.get_or<std::int64_t>("axis", 0), p.outputs[0].shape.rank()));
  const std::size_t item = size_of(p.outputs[0].dtype);
  const std::int64_t outer = product(p.outputs[0].shape.dims(), 0, axis);
  std::vector<std::size_t> runs;  // bytes each operand adds to one outer place
  for (const Spec& spec : p.inputs) {
    runs.push_back(static_cast<std::size_t>(product(spec.shape.dims(), axis, spec.shape.rank())) *
                   item);
  }
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    std::byte* to = out[0];
    Mover mover;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::byte* from = in[i] + static_cast<std::size_t>(o) * runs[i];
        if (!mover.copy(to, from, runs[i])) return Status();
        to += runs[i];
      }
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"values", ParamKind::kTensors}, {"axis", ParamKind::kInt}};

}  // namespace

extern constexpr OpDef concat_op{.name = "concat",
                                 .summary = "Tensors one after the other along an axis.",
                                 .params = kParams,
                                 .paths = "concat",
                                 .infer = infer,
                                 .prepare = prepare};
extern constexpr OpDef concat_strings_op = string_twin<concat_op>("concat_strings");

}  // namespace spillway::graph
