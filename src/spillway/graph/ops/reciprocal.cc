#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return T(1) / x;
  }
};

}  // namespace

extern constexpr OpDef reciprocal_op{
    .name = "reciprocal",
    .summary = "1 / x.",
    .params = kUnaryParams,
    .paths = "math.reciprocal",
    .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
    .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
