#include "spillway/graph/op.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  c.set(0, c.input(0).dtype, c.input(0).shape);
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef stop_gradient_op{.name = "stop_gradient",
                                        .summary = "The tensor itself.",
                                        .params = kParams,
                                        .paths = "stop_gradient",
                                        .infer = infer,
                                        .view = true};

}  // namespace spillway::graph
