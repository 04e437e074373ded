#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  c.set(0, c.attrs().get_or("out_type", DType::kInt32), Shape());
  return {};
}

Status compute(Compute& c) {
  const DType type = c.attrs.get_or("out_type", DType::kInt32);
  SW_ASSIGN(Tensor out, c.make(type, Shape()));
  put_integer(type, out.mutable_data(), 0, c.inputs[0].shape().count());
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"out_type", ParamKind::kDType, "int32"}};

}  // namespace

extern constexpr OpDef size_op{.name = "size",
                               .summary = "The number of items.",
                               .params = kParams,
                               .paths = "size",
                               .infer = infer,
                               .compute = compute,
                               .of_shape = true};

}  // namespace spillway::graph
