#include "spillway/graph/shuffle_rows.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  c.set(0, c.input(0).dtype, c.input(0).shape);
  return {};
}

Status compute(Compute& c) {
  SW_ASSIGN(Tensor out, shuffle_rows(c, c.inputs[0], source_of(c.attrs, Shape())));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"value", ParamKind::kTensor},
                                {"seed", ParamKind::kInt, "0"},
                                {"seed2", ParamKind::kInt, "0"},
                                {"skip", ParamKind::kInt, "0"},
                                {"per_row", ParamKind::kBool, "False"}};

}  // namespace

extern constexpr OpDef random_shuffle_op{.name = "random_shuffle",
                                         .summary = "The rows of a tensor in random order.",
                                         .params = kParams,
                                         .infer = infer,
                                         .compute = compute};

}  // namespace spillway::graph
