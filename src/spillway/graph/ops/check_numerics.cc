#include <cmath>
#include <cstring>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

// A kernel, not a loop: what it says depends on all items.
Result<KernelPtr> prepare(const Prepare& p) {
  const std::string message = p.attrs.get_or<std::string>("message", "");
  const std::int64_t count = p.inputs[0].shape.count();
  const DType type = p.inputs[0].dtype;
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    bool nan = false;
    bool infinite = false;
    with_type(FloatTypes(), type, [&]<class T>() {
      const T* items = reinterpret_cast<const T*>(in[0]);
      in_stretches(count, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const Wide<T> x = widen(items[i]);
          nan |= std::isnan(x);
          infinite |= std::isinf(x);
        }
      });
      Mover().copy(out[0], in[0], static_cast<std::size_t>(count) * sizeof(T));
    });
    if (!nan && !infinite) return Status();
    const char* what = nan && infinite ? "Inf and NaN" : nan ? "NaN" : "Inf";
    return bad_data(Code::kInvalidArgument, message, " : Tensor had ", what, " values");
  });
}

constexpr ParamDef kParams[] = {{"tensor", ParamKind::kTensor}, {"message", ParamKind::kString}};

}  // namespace

extern constexpr OpDef check_numerics_op{
    .name = "check_numerics",
    .summary = "The tensor, if none of its items is NaN or Inf.",
    .params = kParams,
    .paths = "debugging.check_numerics",
    .effect = Effect::kFallible,
    .infer = infer_unary<FloatTypes>,
    .prepare = prepare};

}  // namespace spillway::graph
