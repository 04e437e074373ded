#include <algorithm>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (!is_one_of(RealTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  SW_RETURN_IF_ERROR(same_types(c));
  const DType out = c.attrs().get_or("out_type", DType::kInt32);
  if (out != DType::kInt32 && out != DType::kInt64) return no_kernel(out);
  const std::string side = c.attrs().get_or<std::string>("side", "left");
  if (side != "left" && side != "right") {
    Status status = invalid_argument(
        "Argument `side` must be either 'right' or 'left'. Received: `", "side` = '", side, "'.");
    status.edit().type = "ValueError";
    return status;
  }
  const Shape& sorted = c.input(0).shape;
  const Shape& values = c.input(1).shape;
  if (sorted.rank() == 0) return wrong_shape("sorted_sequence must be at least 1-D");
  if (sorted.has_rank() && values.has_rank()) {
    bool fits = sorted.rank() == values.rank();
    for (int i = 0; fits && i + 1 < sorted.rank(); ++i) {
      fits = sorted[i] < 0 || values[i] < 0 || sorted[i] == values[i];
    }
    if (!fits) {
      return wrong_shape("Leading dim_size of both tensors must match: ", sorted.bracketed(),
                         " and ", values.bracketed());
    }
  }
  c.set(0, out, values);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const AxisView sorted(p.inputs[0].shape, p.inputs[0].shape.rank() - 1);
  const AxisView values(p.inputs[1].shape, p.inputs[1].shape.rank() - 1);
  const bool right = p.attrs.get_or<std::string>("side", "left") == "right";
  const DType out = p.outputs[0].dtype;
  KernelPtr kernel;
  with_type(RealTypes(), p.inputs[0].dtype, [&]<class T>() {
    kernel = make_kernel([=](const std::byte* const* in, std::byte* const* to, std::byte*) {
      const auto less = [](const T& a, const T& b) { return widen(a) < widen(b); };
      Looks looks;
      for (std::int64_t i = 0; i < values.outer * values.axis && !looks.abandoned(); ++i) {
        const T* line = reinterpret_cast<const T*>(in[0]) + i / values.axis * sorted.axis;
        const T& value = reinterpret_cast<const T*>(in[1])[i];
        const T* found = right ? std::upper_bound(line, line + sorted.axis, value, less)
                               : std::lower_bound(line, line + sorted.axis, value, less);
        put_integer(out, to[0], i, found - line);
      }
      return Status();
    });
  });
  return kernel;
}

constexpr ParamDef kParams[] = {{"sorted_sequence", ParamKind::kTensor},
                                {"values", ParamKind::kTensor},
                                {"side", ParamKind::kString, "'left'"},
                                {"out_type", ParamKind::kDType, "int32"}};

}  // namespace

extern constexpr OpDef searchsorted_op{
    .name = "searchsorted",
    .summary = "Where each value would go into a sorted row; side says before or behind equals.",
    .params = kParams,
    .paths = "searchsorted",
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
