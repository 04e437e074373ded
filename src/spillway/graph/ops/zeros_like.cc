#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  c.set(0, c.attrs().get_or("dtype", c.input(0).dtype), c.input(0).shape);
  return {};
}

Status compute(Compute& c) {
  const Shape& shape = c.inputs[0].shape();
  const DType type = c.attrs.get_or("dtype", c.inputs[0].dtype());
  if (type == DType::kString) {
    const std::vector<std::string_view> empty(static_cast<std::size_t>(shape.count()));
    SW_ASSIGN(Tensor out, c.strings(shape, empty));
    c.outputs.push_back(std::move(out));
    return {};
  }
  SW_ASSIGN(Tensor out, c.make(type, shape));
  Mover().clear(out.mutable_data(), out.bytes());
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"dtype", ParamKind::kDType, "None"}};

}  // namespace

extern constexpr OpDef zeros_like_op{.name = "zeros_like",
                                     .summary = "Zeros in the shape of another tensor.",
                                     .params = kParams,
                                     .paths = "zeros_like",
                                     .infer = infer,
                                     .compute = compute,
                                     .of_shape = true};

}  // namespace spillway::graph
