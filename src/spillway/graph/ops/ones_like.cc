#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const DType type = c.attrs().get_or("dtype", c.input(0).dtype);
  if (!is_one_of(PlainTypes(), type)) return no_kernel(type);
  c.set(0, type, c.input(0).shape);
  return {};
}

Status compute(Compute& c) {
  const DType type = c.attrs.get_or("dtype", c.inputs[0].dtype());
  SW_ASSIGN(Tensor out, c.make(type, c.inputs[0].shape()));
  with_type(PlainTypes(), type, [&]<class T>() {
    const T one(static_cast<Wide<T>>(1));
    fill_items(out.mutable_data(), reinterpret_cast<const std::byte*>(&one), sizeof(T),
               out.count());
  });
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"dtype", ParamKind::kDType, "None"}};

}  // namespace

extern constexpr OpDef ones_like_op{.name = "ones_like",
                                    .summary = "Ones in the shape of another tensor.",
                                    .params = kParams,
                                    .paths = "ones_like",
                                    .infer = infer,
                                    .compute = compute,
                                    .of_shape = true};

}  // namespace spillway::graph
