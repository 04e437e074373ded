#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (c.inputs() == 0) return invalid_argument("needs at least one value");
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  SW_RETURN_IF_ERROR(same_types(c));
  Shape shape = c.input(0).shape;
  for (int i = 1; i < c.inputs(); ++i) {
    const auto both = merge(shape, c.input(i).shape);
    if (!both) {
      return wrong_shape(
          "Shapes of all inputs must match: values[0].shape = ", c.input(0).shape.bracketed(),
          " != values[", i, "].shape = ", c.input(i).shape.bracketed());
    }
    shape = *both;
  }
  if (!shape.has_rank()) {
    c.set(0, c.input(0).dtype, Shape::unknown_rank());
    return {};
  }
  SW_ASSIGN(const int axis,
            resolve_axis(c.attrs().get_or<std::int64_t>("axis", 0), shape.rank() + 1));
  std::vector<std::int64_t> dims = dims_of(shape);
  dims.insert(dims.begin() + axis, c.inputs());
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& out = p.outputs[0].shape;
  SW_ASSIGN(const int axis, resolve_axis(p.attrs.get_or<std::int64_t>("axis", 0), out.rank()));
  const AxisView view(out, axis);
  const std::size_t run = static_cast<std::size_t>(view.inner) * size_of(p.outputs[0].dtype);
  return make_kernel([=](const std::byte* const* in, std::byte* const* to, std::byte*) {
    std::byte* next = to[0];
    Mover mover;
    for (std::int64_t o = 0; o < view.outer && run != 0; ++o) {
      for (std::int64_t i = 0; i < view.axis; ++i, next += run) {
        if (!mover.copy(next, in[i] + static_cast<std::size_t>(o) * run, run)) return Status();
      }
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"values", ParamKind::kTensors}, {"axis", ParamKind::kInt, "0"}};

}  // namespace

extern constexpr OpDef stack_op{.name = "stack",
                                .summary = "Tensors of one shape side by side along a new axis.",
                                .params = kParams,
                                .paths = "stack",
                                .infer = infer,
                                .prepare = prepare};
extern constexpr OpDef stack_strings_op = string_twin<stack_op>("stack_strings");

}  // namespace spillway::graph
