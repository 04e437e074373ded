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
      return static_cast<T>(x / y);
    } else {
      return std::trunc(x / y);
    }
  }
};

}  // namespace

extern constexpr OpDef truncatediv_op{
    .name = "truncatediv",
    .summary = "x / y, rounded towards zero. Integers must not be divided by zero.",
    .params = kBinaryParams,
    .paths = "truncatediv",
    .effect = Effect::kFallible,
    .infer = infer_binary<RealTypes>,
    .loop = quotient_loop<Op>};

}  // namespace spillway::graph
