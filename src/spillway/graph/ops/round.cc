#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    if constexpr (kInteger<T>) {
      return x;
    } else {
      return std::rint(x);
    }
  }
};

}  // namespace

extern constexpr OpDef round_op{.name = "round",
                                .summary = "The nearest whole number, halves to even.",
                                .params = kUnaryParams,
                                .paths = "round math.round",
                                .infer = infer_unary<RealTypes>,
                                .loop = unary_loop<Op, RealTypes>};

}  // namespace spillway::graph
