#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
  }
};

Status infer(Infer& c) {
  const DType dtype = c.input(0).dtype;
  if (!is_one_of(NumberTypes(), dtype)) return no_kernel(dtype);
  SW_RETURN_IF_ERROR(same_types(c));
  const Shape& value = c.input(0).shape;
  const Shape& bias = c.input(1).shape;
  if (value.has_rank() && value.rank() < 2) {
    return wrong_shape("Input tensor must be at least 2D: ", value.bracketed());
  }
  if (bias.has_rank() && bias.rank() != 1) {
    return wrong_shape("Biases must be 1D: ", bias.bracketed());
  }
  if (!value.has_rank() || !bias.has_rank()) {
    c.set(0, dtype, value);
    return {};
  }
  std::vector<std::int64_t> dims = dims_of(value);
  if (dims.back() == kUnknownDim) dims.back() = bias[0];
  if (bias[0] != kUnknownDim && bias[0] != dims.back()) {
    return wrong_shape("Must provide as many biases as the last dimension of the input tensor: ",
                       bias.bracketed(), " vs. ", value.bracketed());
  }
  c.set(0, dtype, shape_of(dims));
  return {};
}

constexpr ParamDef kParams[] = {{"value", ParamKind::kTensor}, {"bias", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef bias_add_op{.name = "bias_add",
                                   .summary = "A number for each place of the last axis, added.",
                                   .params = kParams,
                                   .infer = infer,
                                   .loop = binary_loop<Op, NumberTypes>};

}  // namespace spillway::graph
