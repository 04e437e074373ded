#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::exp(x);
  }
};

}  // namespace

extern constexpr OpDef exp_op{.name = "exp",
                              .summary = "e to the power of x.",
                              .params = kUnaryParams,
                              .paths = "exp math.exp",
                              .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                              .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
