#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline T of(T x, T y) {
    if constexpr (kInteger<T>) {
      if constexpr (std::is_signed_v<T>) {
        if (y == -1) return 0;
      }
      return static_cast<T>(x % y);
    } else {
      return std::fmod(x, y);
    }
  }
};

}  // namespace

extern constexpr OpDef truncatemod_op{
    .name = "truncatemod",
    .summary = "The remainder with the sign of x. Integers must not be divided by zero.",
    .params = kBinaryParams,
    .paths = "truncatemod",
    .effect = Effect::kFallible,
    .infer = infer_binary<RealTypes>,
    .loop = dividing_loop<Op, RealTypes>};

}  // namespace spillway::graph
