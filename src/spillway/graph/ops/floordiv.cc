#include <cmath>

#include "spillway/graph/quotient.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static T of(T x, T y) {
    if constexpr (kInteger<T>) {
      if constexpr (std::is_signed_v<T>) {
        if (y == -1) return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
      }
      const T quotient = static_cast<T>(x / y);
      return (x % y != 0 && (x < 0) != (y < 0)) ? static_cast<T>(quotient - 1) : quotient;
    } else {
      return std::floor(x / y);
    }
  }
};

}  // namespace

extern constexpr OpDef floordiv_op{
    .name = "floordiv",
    .summary = "x // y: rounded towards minus infinity. Integers must not be divided by zero.",
    .params = kBinaryParams,
    .paths = "math.floordiv",
    .effect = Effect::kFallible,
    .infer = infer_binary<RealTypes>,
    .loop = quotient_loop<Op>};

}  // namespace spillway::graph
