#include <cstring>

#include "spillway/graph/reversal.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  if (in.has_rank()) {
    SW_ASSIGN([[maybe_unused]] const auto axes, reversed_axes(c.attrs(), in.rank()));
  }
  const Spec& condition = c.input(1);
  if (condition.dtype != DType::kBool) return no_kernel(condition.dtype);
  if (!condition.shape.compatible(Shape())) {
    return wrong_shape("`condition` must be a scalar: ", condition.shape.bracketed());
  }
  c.set(0, c.input(0).dtype, in);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  SW_ASSIGN(const std::vector<int> axes, reversed_axes(p.attrs, p.inputs[0].shape.rank()));
  const Reversal reversal(p.inputs[0], axes);
  const std::size_t bytes =
      static_cast<std::size_t>(p.inputs[0].shape.count()) * size_of(p.inputs[0].dtype);
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    if (*reinterpret_cast<const bool*>(in[1])) {
      reversal.copy(in[0], out[0]);
    } else {
      Mover().copy(out[0], in[0], bytes);
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"tensor", ParamKind::kTensor},
                                {"condition", ParamKind::kTensor, "", 'b'},
                                {"axis", ParamKind::kInts}};

}  // namespace

extern constexpr OpDef reverse_if_op{
    .name = "reverse_if",
    .summary =
        "The items in reverse order along axes, where the condition holds; else as they are.",
    .params = kParams,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
