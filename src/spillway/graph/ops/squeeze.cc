#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const Shape& in = c.input(0).shape;
  const auto given = c.attrs().get_or<std::vector<std::int64_t>>("axis", {});
  if (!in.has_rank() || (given.empty() && !in.fully_known())) {
    c.set(0, c.input(0).dtype, Shape::unknown_rank());
    return {};
  }
  std::vector<bool> gone(static_cast<std::size_t>(in.rank()));
  for (const std::int64_t axis : given) {
    if (axis < -in.rank() || axis >= in.rank()) {
      return invalid_argument("Tried to squeeze dim index ", axis, " for tensor with ", in.rank(),
                              " dimensions.");
    }
    const auto at = static_cast<int>(axis < 0 ? axis + in.rank() : axis);
    if (in[at] != 1 && in[at] != kUnknownDim) {
      return wrong_shape("Can not squeeze dim[", at, "], expected a dimension of 1, got ", in[at]);
    }
    gone[static_cast<std::size_t>(at)] = true;
  }
  std::vector<std::int64_t> dims;
  for (int i = 0; i < in.rank(); ++i) {
    const bool drop = given.empty() ? in[i] == 1 : gone[static_cast<std::size_t>(i)];
    if (!drop) dims.push_back(in[i]);
  }
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor}, {"axis", ParamKind::kInts, "None"}};

}  // namespace

extern constexpr OpDef squeeze_op{.name = "squeeze",
                                  .summary = "The same items without the axes of size 1.",
                                  .params = kParams,
                                  .paths = "squeeze",
                                  .infer = infer,
                                  .view = true};

}  // namespace spillway::graph
