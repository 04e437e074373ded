#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

using SizeTypes = Types<std::int32_t, std::int64_t>;

Status infer(Infer& c) {
  const DType type = c.attrs().get_or("out_type", DType::kInt32);
  if (!is_one_of(SizeTypes(), type)) return no_kernel(type);
  c.set(0, type, Shape());
  return {};
}

Status compute(Compute& c) {
  const DType type = c.attrs.get_or("out_type", DType::kInt32);
  SW_ASSIGN(Tensor out, c.make(type, Shape()));
  const std::int64_t items = c.inputs[0].shape().count();
  if (type == DType::kInt32 && items > INT32_MAX) {
    return invalid_argument("Number of elements was larger than representable by 32-bit output ",
                            "type: ", items, ": give out_type=tf.int64");
  }
  put_integer(type, out.mutable_data(), 0, items);
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
