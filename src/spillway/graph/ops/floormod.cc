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
      const T rest = static_cast<T>(x % y);
      return (rest != 0 && (rest < 0) != (y < 0)) ? static_cast<T>(rest + y) : rest;
    } else {
      const T rest = std::fmod(x, y);
      return (rest != 0 && (y < 0) != (rest < 0)) ? rest + y : rest;
    }
  }
};

}  // namespace

extern constexpr OpDef floormod_op{
    .name = "floormod",
    .summary = "The remainder with the sign of y. Integers must not be divided by zero.",
    .params = kBinaryParams,
    .paths = "math.floormod math.mod",
    .effect = Effect::kFallible,
    .infer = infer_binary<RealTypes>,
    .loop = dividing_loop<Op, RealTypes>};

}  // namespace spillway::graph
