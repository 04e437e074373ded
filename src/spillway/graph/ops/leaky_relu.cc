#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

template <class T>
struct Body {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    using W = Wide<T>;
    const auto* __restrict x = reinterpret_cast<const T*>(args.in[0]);
    auto* __restrict out = reinterpret_cast<T*>(args.out);
    const auto slope = static_cast<W>(*static_cast<const float*>(args.data));
    for (std::int64_t i = 0; i < args.n; ++i) {
      const W wide = widen(x[i]);
      out[i] = static_cast<T>(wide > W(0) ? wide : wide * slope);
    }
    return -1;
  }
};

Result<Loop> loop(const Prepare& p) {
  Loop loop;
  // A float for every type, as TensorFlow's is.
  loop.data = std::make_shared<const float>(static_cast<float>(p.attrs.get_or("alpha", 0.2)));
  with_type(FloatTypes(), p.inputs[0].dtype,
            [&]<class T>() { loop.fn = SimdLoop<Body<T>>::best(); });
  return loop;
}

constexpr ParamDef kParams[] = {{"features", ParamKind::kTensor},
                                {"alpha", ParamKind::kFloat, "0.2"}};

}  // namespace

extern constexpr OpDef leaky_relu_op{.name = "leaky_relu",
                                     .summary = "x, and alpha * x where that is not positive.",
                                     .params = kParams,
                                     .infer = infer_unary<FloatTypes>,
                                     .loop = loop};

}  // namespace spillway::graph
