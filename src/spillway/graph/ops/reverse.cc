#include <algorithm>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Result<std::vector<int>> axes_of(const Attrs& attrs, int rank) {
  std::vector<int> axes;
  for (const std::int64_t given : attrs.get_or<std::vector<std::int64_t>>("axis", {})) {
    if (given < -rank || given >= rank) {
      return invalid_argument("'axis'[", axes.size(), "] = ", given, " is out of valid range [0, ",
                              rank - 1, "]");
    }
    const auto axis = static_cast<int>(given < 0 ? given + rank : given);
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
      return invalid_argument("axis ", axis, " specified more than once.");
    }
    axes.push_back(axis);
  }
  return axes;
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  if (in.has_rank()) {
    SW_ASSIGN([[maybe_unused]] const auto axes, axes_of(c.attrs(), in.rank()));
  }
  c.set(0, c.input(0).dtype, in);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const std::size_t item = size_of(p.inputs[0].dtype);
  const std::vector<std::int64_t> steps = byte_strides(in, item);
  SW_ASSIGN(const std::vector<int> axes, axes_of(p.attrs, in.rank()));
  Box box(item);
  std::int64_t first = 0;
  for (int i = 0; i < in.rank(); ++i) {
    const std::int64_t step = steps[static_cast<std::size_t>(i)];
    const bool turned = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (turned) first += (in[i] - 1) * step;
    box.axis(in[i], turned ? -step : step, step);
  }
  return make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
    box.copy(src[0] + first, dst[0]);
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"tensor", ParamKind::kTensor}, {"axis", ParamKind::kInts}};

}  // namespace

extern constexpr OpDef reverse_op{.name = "reverse",
                                  .summary = "The items in reverse order along axes.",
                                  .params = kParams,
                                  .paths = "reverse",
                                  .infer = infer,
                                  .prepare = prepare};
extern constexpr OpDef reverse_strings_op = string_twin<reverse_op>("reverse_strings");

}  // namespace spillway::graph
