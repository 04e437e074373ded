#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::lgamma(x);
  }
};

}  // namespace

extern constexpr OpDef lgamma_op{.name = "lgamma",
                                 .summary = "The logarithm of |gamma(x)|.",
                                 .params = kUnaryParams,
                                 .paths = "math.lgamma",
                                 .infer = infer_unary<FloatTypes>,
                                 .loop = unary_loop<Op, FloatTypes>};

}  // namespace spillway::graph
