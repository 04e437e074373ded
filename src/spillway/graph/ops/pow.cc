#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static T of(T x, T y) {
    return std::pow(x, y);
  }
};

// Squares its way up; wraps. A negative exponent fails its item.
template <class T>
struct IntegerBody {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto* x = reinterpret_cast<const T*>(args.in[0]);
    const auto* y = reinterpret_cast<const T*>(args.in[1]);
    auto* out = reinterpret_cast<T*>(args.out);
    for (std::int64_t i = 0; i < args.n; ++i) {
      if (y[i] < 0) return i;
      Wrapping<T> result = 1;
      auto base = static_cast<Wrapping<T>>(x[i]);
      for (T left = y[i]; left != 0; left = static_cast<T>(left / 2), base *= base) {
        if (left % 2 != 0) result *= base;
      }
      out[i] = static_cast<T>(result);
    }
    return -1;
  }
};

Result<Loop> loop(const Prepare& p) {
  Loop loop;
  loop.failure = "Integers to negative integer powers are not allowed";
  with_type(SignedNumbers(), p.inputs[0].dtype, [&]<class T>() {
    if constexpr (kInteger<T>) {
      loop.fn = SimdLoop<IntegerBody<T>>::baseline;
    } else {
      loop.fn = SimdLoop<MapBody<InWide<Op, T>, T, T, T>>::baseline;
    }
  });
  return loop;
}

}  // namespace

extern constexpr OpDef pow_op{.name = "pow",
                              .summary = "x to the power of y, item by item.",
                              .params = kBinaryParams,
                              .paths = "pow math.pow",
                              .effect = Effect::kFallible,
                              .infer = infer_binary<SignedNumbers>,
                              .loop = loop};

}  // namespace spillway::graph
