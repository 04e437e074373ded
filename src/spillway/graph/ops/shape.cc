#include "spillway/graph/elementwise.h"
#include "spillway/graph/op.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const DType out = c.attrs().get_or("out_type", DType::kInt32);
  if (out != DType::kInt32 && out != DType::kInt64) return no_kernel(out);
  const Shape& shape = c.input(0).shape;
  c.set(0, out, Shape({shape.has_rank() ? shape.rank() : kUnknownDim}));
  return {};
}

Status compute(Compute& c) {
  const Shape& shape = c.inputs[0].shape();
  const DType type = c.attrs.get_or("out_type", DType::kInt32);
  SW_ASSIGN(Tensor out, c.make(type, Shape({shape.rank()})));
  for (int i = 0; i < shape.rank(); ++i) {
    if (type == DType::kInt32 && shape[i] > INT32_MAX) {
      return invalid_argument("shape has dimension ", i, " of ", shape[i],
                              ", which does not fit int32: give out_type=tf.int64");
    }
    if (type == DType::kInt32) {
      reinterpret_cast<std::int32_t*>(out.mutable_data())[i] = static_cast<std::int32_t>(shape[i]);
    } else {
      reinterpret_cast<std::int64_t*>(out.mutable_data())[i] = shape[i];
    }
  }
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"out_type", ParamKind::kDType, "int32"}};

}  // namespace

extern constexpr OpDef shape_op{.name = "shape",
                                .summary = "The dimensions, as a tensor.",
                                .params = kParams,
                                .paths = "shape",
                                .infer = infer,
                                .compute = compute,
                                .of_shape = true};

}  // namespace spillway::graph
