#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

using IndexTypes = Types<std::uint8_t, std::int8_t, std::int32_t, std::int64_t>;

Status infer(Infer& c) {
  if (!is_one_of(IndexTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  SW_RETURN_IF_ERROR(movable(c.input(2)));
  SW_RETURN_IF_ERROR(same_types(c, 2));
  const Shape& in = c.input(0).shape;
  if (c.input(1).shape.rank() > 0) {
    return wrong_shape("depth must be a scalar, but got: ", c.input(1).shape.bracketed());
  }
  for (const int i : {2, 3}) {
    if (c.input(i).shape.rank() <= 0) continue;
    return invalid_argument(i == 2 ? "on" : "off",
                            "_value must be a scalar: ", c.input(i).shape.bracketed());
  }
  std::int64_t depth = kUnknownDim;
  if (const Tensor* value = c.constant(1)) {
    depth = integer_at(value->dtype(), value->data(), 0);
    if (depth < 0) return invalid_argument("depth must be non-negative, got: ", depth);
  } else if (c.as_shape(1) && c.as_shape(1)->rank() == 1) {
    depth = (*c.as_shape(1))[0];
  }
  if (!in.has_rank()) {
    c.set(0, c.input(2).dtype, in);
    return {};
  }
  const std::int64_t axis = c.attrs().get_or<std::int64_t>("axis", -1);
  if (axis < -1 || axis > in.rank()) {
    return invalid_argument("Expected axis to be -1 or between [0, ", in.rank() + 1,
                            ").  But received: ", axis);
  }
  std::vector<std::int64_t> dims = dims_of(in);
  dims.insert(axis < 0 ? dims.end() : dims.begin() + axis, depth);
  c.set(0, c.input(2).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& out = p.outputs[0].shape;
  const std::int64_t given = p.attrs.get_or<std::int64_t>("axis", -1);
  const AxisView view(out, static_cast<int>(given < 0 ? out.rank() - 1 : given));
  const std::size_t item = size_of(p.outputs[0].dtype);
  const DType type = p.inputs[0].dtype;
  return make_kernel([=](const std::byte* const* in, std::byte* const* to, std::byte*) {
    fill_items(to[0], in[3], item, view.outer * view.axis * view.inner);
    with_type(IndexTypes(), type, [&]<class I>() {
      const I* at = reinterpret_cast<const I*>(in[0]);
      Looks looks;
      for (std::int64_t o = 0; o < view.outer && !looks.abandoned(view.inner); ++o) {
        for (std::int64_t i = 0; i < view.inner; ++i, ++at) {
          const auto hot = static_cast<std::int64_t>(*at);
          if (hot < 0 || hot >= view.axis) continue;
          const std::int64_t place = (o * view.axis + hot) * view.inner + i;
          std::memcpy(to[0] + static_cast<std::size_t>(place) * item, in[2], item);
        }
      }
    });
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"indices", ParamKind::kTensor, "", 'I'},
                                {"depth", ParamKind::kTensor, "", 'n'},
                                {"on_value", ParamKind::kTensor},
                                {"off_value", ParamKind::kTensor},
                                {"axis", ParamKind::kInt, "-1"}};

}  // namespace

extern constexpr OpDef one_hot_op{
    .name = "one_hot",
    .summary = "on_value at the place an index names, else off_value.",
    .params = kParams,
    .infer = infer,
    .prepare = prepare};
extern constexpr OpDef one_hot_strings_op = string_twin<one_hot_op>("one_hot_strings");

}  // namespace spillway::graph
