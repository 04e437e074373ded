#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

constexpr std::int64_t kMostParts = 1 << 20;  // outputs of one node

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  std::int64_t num = c.attrs().get_or<std::int64_t>("num", kUnknownDim);
  if (num > kMostParts) return invalid_argument("num must be at most ", kMostParts, ": ", num);
  Shape each = Shape::unknown_rank();
  if (in.has_rank()) {
    SW_ASSIGN(const int axis, resolve_axis(c.attrs().get_or<std::int64_t>("axis", 0), in.rank()));
    if (num >= 0 && in[axis] >= 0 && in[axis] != num) {
      return wrong_shape("Input shape axis ", axis, " must equal ", num, ", got shape ",
                         in.bracketed());
    }
    if (num < 0) num = in[axis];
    std::vector<std::int64_t> dims = dims_of(in);
    dims.erase(dims.begin() + axis);
    each = shape_of(dims);
  }
  if (num < 0) {
    Status status = invalid_argument("Cannot infer argument `num` from shape ", in.to_string());
    status.edit().type = "ValueError";
    return status;
  }
  for (int i = 0; i < num; ++i) c.set(i, c.input(0).dtype, each);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  SW_ASSIGN(const int axis,
            resolve_axis(p.attrs.get_or<std::int64_t>("axis", 0), p.inputs[0].shape.rank()));
  const AxisView view(p.inputs[0].shape, axis);
  const std::size_t run = static_cast<std::size_t>(view.inner) * size_of(p.inputs[0].dtype);
  return make_kernel([=](const std::byte* const* in, std::byte* const* to, std::byte*) {
    const std::byte* next = in[0];
    Mover mover;
    for (std::int64_t o = 0; o < view.outer && run != 0; ++o) {
      for (std::int64_t i = 0; i < view.axis; ++i, next += run) {
        if (!mover.copy(to[i] + static_cast<std::size_t>(o) * run, next, run)) return Status();
      }
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"value", ParamKind::kTensor},
                                {"num", ParamKind::kInt, "None"},
                                {"axis", ParamKind::kInt, "0"}};

}  // namespace

extern constexpr OpDef unstack_op{.name = "unstack",
                                  .summary = "The parts of a tensor along an axis, one by one.",
                                  .params = kParams,
                                  .paths = "unstack",
                                  .outputs = -1,
                                  .infer = infer,
                                  .prepare = prepare};
extern constexpr OpDef unstack_strings_op = string_twin<unstack_op>("unstack_strings");

}  // namespace spillway::graph
