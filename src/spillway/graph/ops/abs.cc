#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    if constexpr (kInteger<T>) {
      return x < 0 ? static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x)) : x;
    } else {
      return std::abs(x);
    }
  }
};

}  // namespace

extern constexpr OpDef abs_op{.name = "abs",
                              .summary = "The absolute value.",
                              .params = kUnaryParams,
                              .paths = "abs math.abs",
                              .infer = infer_unary<decltype(SignedTypes{} | FloatTypes{})>,
                              .loop = unary_loop<Op, decltype(SignedTypes{} | FloatTypes{})>};

}  // namespace spillway::graph
