#include "spillway/graph/op.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  c.set(0, c.input(0).dtype, c.input(0).shape);
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef identity_op{.name = "identity",
                                   .summary = "The tensor itself.",
                                   .params = kParams,
                                   .paths = "identity",
                                   .infer = infer,
                                   .view = true};

}  // namespace spillway::graph
