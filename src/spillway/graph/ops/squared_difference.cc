#include <complex>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x, T y) {
    const auto d = static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y);
    if constexpr (kComplex<T>) {
      return static_cast<T>(d * std::conj(d));
    } else {
      return static_cast<T>(d * d);
    }
  }
};

// The difference of two small floats is one before it is squared, as in TensorFlow.
struct SmallOp {
  template <class T>
  [[gnu::always_inline]] static T of(T x, T y) {
    const Wide<T> d = widen(static_cast<T>(widen(x) - widen(y)));
    return static_cast<T>(d * d);
  }
};

Result<Loop> loop(const Prepare& p) {
  Loop loop;
  if (with_type(Types<Half, BFloat16>(), p.inputs[0].dtype,
                [&]<class T>() { loop.fn = SimdLoop<MapBody<SmallOp, T, T, T>>::best(); })) {
    return loop;
  }
  return binary_loop<Op, NumberTypes>(p);
}

}  // namespace

extern constexpr OpDef squared_difference_op{.name = "squared_difference",
                                             .summary = "(x - y) squared, item by item.",
                                             .params = kBinaryParams,
                                             .paths = "math.squared_difference",
                                             .infer = infer_binary<NumberTypes>,
                                             .loop = loop};

}  // namespace spillway::graph
