#include "spillway/graph/shuffle_rows.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(check_seed(c, 1));
  c.set(0, c.input(0).dtype, c.input(0).shape);
  return {};
}

Status compute(Compute& c) {
  const Tensor& seed = c.inputs[1];
  SW_ASSIGN(Tensor out,
            shuffle_rows(c, c.inputs[0], source_of(seed.data(), seed.dtype(), Shape())));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"value", ParamKind::kTensor},
                                {"seed", ParamKind::kTensor, "", 'n'}};

}  // namespace

extern constexpr OpDef stateless_shuffle_op{
    .name = "stateless_shuffle",
    .summary = "The rows of a tensor in the order that a seed determines.",
    .params = kParams,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
