#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  c.set(0, DType::kInt32, Shape());
  return {};
}

Status compute(Compute& c) {
  SW_ASSIGN(Tensor out, c.make(DType::kInt32, Shape()));
  put_integer(DType::kInt32, out.mutable_data(), 0, c.inputs[0].shape().rank());
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef rank_op{.name = "rank",
                               .summary = "The number of axes.",
                               .params = kParams,
                               .paths = "rank",
                               .infer = infer,
                               .compute = compute,
                               .of_shape = true};

}  // namespace spillway::graph
