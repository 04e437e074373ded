#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status value_error(Status status) {
  status.edit().type = "ShapeError";
  return status;
}

// The axis the mask begins at.
Result<int> first_axis(const Attrs& attrs, int rank, int mask) {
  SW_ASSIGN(const int axis, resolve_axis(attrs.get_or<std::int64_t>("axis", 0), rank));
  if (axis + mask > rank) {
    return value_error(invalid_argument("a mask of rank ", mask, " does not fit a tensor of rank ",
                                        rank, " from axis ", axis));
  }
  return axis;
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  const Shape& mask = c.input(1).shape;
  if (!mask.has_rank()) {  // TensorFlow refuses to wait for it
    c.set(0, c.input(0).dtype, Shape::unknown_rank());
    return {};
  }
  if (mask.rank() == 0) return value_error(invalid_argument("mask cannot be scalar."));
  if (!in.has_rank()) {
    c.set(0, c.input(0).dtype, in);
    return {};
  }
  SW_ASSIGN(const int axis, first_axis(c.attrs(), in.rank(), mask.rank()));
  std::vector<std::int64_t> dims = dims_of(in);
  const Shape part = shape_of({dims.begin() + axis, dims.begin() + axis + mask.rank()});
  if (!part.compatible(mask)) {
    return value_error(invalid_argument("Shapes ", part.to_string(), " and ", mask.to_string(),
                                        " are incompatible"));
  }
  dims.erase(dims.begin() + axis, dims.begin() + axis + mask.rank());
  dims.insert(dims.begin() + axis, kUnknownDim);
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Status compute(Compute& c) {
  const Tensor& in = c.inputs[0];
  const Tensor& mask = c.inputs[1];
  const Shape& shape = in.shape();
  SW_ASSIGN(const int axis, first_axis(c.attrs, shape.rank(), mask.shape().rank()));
  const int behind = axis + mask.shape().rank();
  std::vector<std::int64_t> kept;
  const bool* const items = mask.as<bool>();
  in_stretches(mask.count(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (items[i]) kept.push_back(i);
    }
  });
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().begin() + axis);
  dims.push_back(static_cast<std::int64_t>(kept.size()));
  dims.insert(dims.end(), shape.dims().begin() + behind, shape.dims().end());
  SW_ASSIGN(Tensor out, c.make(in.dtype(), shape_of(dims)));
  const std::int64_t outer = product(shape.dims(), 0, axis);
  const std::size_t run =
      static_cast<std::size_t>(product(shape.dims(), behind, shape.rank())) * size_of(in.dtype());
  std::byte* to = out.mutable_data();
  Mover mover;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const std::int64_t i : kept) {
      const std::byte* from = in.data() + static_cast<std::size_t>(o * mask.count() + i) * run;
      if (!mover.copy(to, from, run)) return {};
      to += run;
    }
  }
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"tensor", ParamKind::kTensor},
                                {"mask", ParamKind::kTensor, "", 'b'},
                                {"axis", ParamKind::kInt, "None"}};

}  // namespace

extern constexpr OpDef boolean_mask_op{.name = "boolean_mask",
                                       .summary = "The parts of a tensor whose mask is True.",
                                       .params = kParams,
                                       .paths = "boolean_mask",
                                       .infer = infer,
                                       .compute = compute};
extern constexpr OpDef boolean_mask_strings_op =
    string_twin<boolean_mask_op>("boolean_mask_strings");

}  // namespace spillway::graph
