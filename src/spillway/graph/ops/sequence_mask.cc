#include <algorithm>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status check_most(std::int64_t most) {
  if (most >= 0) return {};
  return invalid_argument("maxlen must not be negative: ", most);
}

Status infer(Infer& c) {
  const DType type = c.attrs().get_or("dtype", DType::kBool);
  if (!is_one_of(PlainTypes(), type)) return no_kernel(type);
  const Tensor* most = nullptr;
  if (c.inputs() > 1) {
    if (!is_integer(c.input(1).dtype)) return no_kernel(c.input(1).dtype);
    if (c.input(1).shape.rank() > 0) {
      return wrong_shape("maxlen must be scalar: ", c.input(1).shape.bracketed());
    }
    most = c.constant(1);
    if (most != nullptr) SW_RETURN_IF_ERROR(check_most(integers_of(*most)[0]));
  }
  if (!is_integer(c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const Shape& in = c.input(0).shape;
  if (!in.has_rank()) {
    c.set(0, type, in);
    return {};
  }
  std::vector<std::int64_t> dims = dims_of(in);
  dims.push_back(most == nullptr ? kUnknownDim : integers_of(*most)[0]);
  c.set(0, type, shape_of(dims));
  return {};
}

Status compute(Compute& c) {
  const std::vector<std::int64_t> lengths = integers_of(c.inputs[0]);
  std::int64_t most = 0;
  if (c.inputs.size() > 1) {
    most = integers_of(c.inputs[1])[0];
    SW_RETURN_IF_ERROR(check_most(most));
  } else {
    for (const std::int64_t length : lengths) most = std::max(most, length);
  }
  std::vector<std::int64_t> dims = dims_of(c.inputs[0].shape());
  dims.push_back(most);
  const DType type = c.attrs.get_or("dtype", DType::kBool);
  SW_ASSIGN(Tensor out, c.make(type, shape_of(dims)));
  with_type(PlainTypes(), type, [&]<class T>() {
    T* to = reinterpret_cast<T*>(out.mutable_data());
    Looks looks;
    for (const std::int64_t length : lengths) {
      if (looks.abandoned(most)) return;
      for (std::int64_t i = 0; i < most; ++i) {
        *to++ = T(static_cast<Wide<T>>(i < length ? 1 : 0));
      }
    }
  });
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"lengths", ParamKind::kTensor, "", 'L'},
                                {"maxlen", ParamKind::kOptional, "None", 'M'},
                                {"dtype", ParamKind::kDType, "bool"}};

}  // namespace

extern constexpr OpDef sequence_mask_op{
    .name = "sequence_mask",
    .summary = "True for the first `length` places of each row.",
    .params = kParams,
    .paths = "sequence_mask",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
