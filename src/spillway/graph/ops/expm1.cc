#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::expm1(x);
  }
};

}  // namespace

extern constexpr OpDef expm1_op{.name = "expm1",
                                .summary = "exp(x) - 1, exact near zero.",
                                .params = kUnaryParams,
                                .paths = "math.expm1",
                                .infer = infer_unary<FloatTypes>,
                                .loop = unary_loop<Op, FloatTypes>};

}  // namespace spillway::graph
