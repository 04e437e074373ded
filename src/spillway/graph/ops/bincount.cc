#include <algorithm>
#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/tensor/extent.h"

namespace spillway::graph {
namespace {

using WeightTypes = Types<std::int32_t, std::int64_t, float, double>;

DType type_of(const Attrs& attrs, bool weighted, DType weights) {
  return weighted ? weights : attrs.get_or("dtype", DType::kInt32);
}

Status infer(Infer& c) {
  if (!is_integer(c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const bool weighted = c.inputs() > 1;
  const DType type = type_of(c.attrs(), weighted, c.input(weighted ? 1 : 0).dtype);
  if (!is_one_of(WeightTypes(), type)) return no_kernel(type);
  if (weighted && !c.input(1).shape.compatible(c.input(0).shape)) {
    return wrong_shape("weights must have the shape of arr: ", c.input(1).shape.bracketed(),
                       " and ", c.input(0).shape.bracketed());
  }
  for (const char* bound : {"minlength", "maxlength"}) {
    const std::int64_t given = c.attrs().get_or<std::int64_t>(bound, 0);
    if (given < 0) return invalid_argument(bound, " must be >= 0, got ", given);
  }
  const Shape& in = c.input(0).shape;
  const bool rows = c.attrs().has("axis") && (!in.has_rank() || in.rank() > 1);
  if (rows && in.rank() > 2) {
    return wrong_shape("with an axis, arr must have at most two axes: ", in.bracketed());
  }
  if (rows && !in.has_rank()) {
    c.set(0, type, Shape::unknown_rank());
  } else {
    c.set(0, type, rows ? Shape({in[0], kUnknownDim}) : Shape({kUnknownDim}));
  }
  return {};
}

Status compute(Compute& c) {
  const std::vector<std::int64_t> values = integers_of(c.inputs[0]);
  const Shape& in = c.inputs[0].shape();
  std::int64_t bins = 0;
  for (const std::int64_t value : values) {
    if (value < 0) {
      return bad_data(Code::kInvalidArgument, "Input arr must be non-negative!: ", value);
    }
    bins = std::max(bins, saturated_sum(value, 1));
  }
  bins = std::max(bins, c.attrs.get_or<std::int64_t>("minlength", 0));
  bins = std::min(bins, c.attrs.get_or<std::int64_t>("maxlength", bins));
  const std::int64_t rows = c.attrs.has("axis") && in.rank() == 2 ? in[0] : -1;
  const bool weighted = c.inputs.size() > 1;
  const bool binary = c.attrs.get_or("binary_output", false);
  const DType type = type_of(c.attrs, weighted, c.inputs.back().dtype());
  SW_ASSIGN(Tensor out, c.make(type, rows < 0 ? Shape({bins}) : Shape({rows, bins})));
  if (!Mover().clear(out.mutable_data(), out.bytes())) return {};
  with_type(WeightTypes(), type, [&]<class T>() {
    T* to = reinterpret_cast<T*>(out.mutable_data());
    const std::size_t width = rows < 0 ? values.size() : static_cast<std::size_t>(in[1]);
    Looks looks;
    for (std::size_t i = 0; i < values.size() && !looks.abandoned(); ++i) {
      if (values[i] >= bins) continue;
      T& bin = to[static_cast<std::int64_t>(i / width) * bins + values[i]];
      const T weight = weighted ? c.inputs[1].as<T>()[i] : T(1);
      using Sum = Wrapping<T>;
      bin = binary ? T(1) : static_cast<T>(static_cast<Sum>(bin) + static_cast<Sum>(weight));
    }
  });
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {
    {"arr", ParamKind::kTensor, "", 'n'},        {"weights", ParamKind::kOptional, "None"},
    {"minlength", ParamKind::kInt, "None"},      {"maxlength", ParamKind::kInt, "None"},
    {"dtype", ParamKind::kDType, "int32"},       {"axis", ParamKind::kInt, "None"},
    {"binary_output", ParamKind::kBool, "False"}};

}  // namespace

extern constexpr OpDef bincount_op{.name = "bincount",
                                   .summary = "How often each of 0, 1, ... occurs.",
                                   .params = kParams,
                                   .effect = Effect::kFallible,
                                   .infer = infer,
                                   .compute = compute};

}  // namespace spillway::graph
