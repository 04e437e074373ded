#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(1)));
  const Shape& dims = c.input(0).shape;
  if (dims.has_rank() && dims.rank() != 1) {
    return invalid_argument("dims must represent a vector, got shape ", dims.bracketed());
  }
  if (const Tensor* value = c.constant(0)) {
    for (const std::int64_t dim : integers_of(*value)) {
      if (dim < 0) return invalid_argument("Dimension ", dim, " must be >= 0");
    }
  }
  const bool known = c.as_shape(0).has_value();
  c.set(0, c.input(1).dtype,
        known ? *c.as_shape(0) : unknown_dims(dims.has_rank() ? dims[0] : kUnknownDim));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const std::size_t item = size_of(p.outputs[0].dtype);
  const std::int64_t count = p.outputs[0].shape.count();
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    fill_items(out[0], in[1], item, count);
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"dims", ParamKind::kTensor, "", 'n'},
                                {"value", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef fill_op{.name = "fill",
                               .summary = "A tensor of one value.",
                               .params = kParams,
                               .paths = "fill",
                               .infer = infer,
                               .prepare = prepare};
extern constexpr OpDef fill_strings_op = string_twin<fill_op>("fill_strings");

}  // namespace spillway::graph
