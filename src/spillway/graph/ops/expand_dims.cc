#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const Shape& in = c.input(0).shape;
  const std::int64_t given = c.attrs().get_or<std::int64_t>("axis", 0);
  if (!in.has_rank()) {
    c.set(0, c.input(0).dtype, in);
    return {};
  }
  if (given < -in.rank() - 1 || given > in.rank()) {
    return invalid_argument("Tried to expand dim index ", given, " for tensor with ", in.rank(),
                            " dimensions.");
  }
  std::vector<std::int64_t> dims = dims_of(in);
  dims.insert(given < 0 ? dims.end() + given + 1 : dims.begin() + given, 1);
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor}, {"axis", ParamKind::kInt}};

}  // namespace

extern constexpr OpDef expand_dims_op{.name = "expand_dims",
                                      .summary = "The same items with one more axis, of size 1.",
                                      .params = kParams,
                                      .paths = "expand_dims",
                                      .infer = infer,
                                      .view = true};

}  // namespace spillway::graph
