#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::exp(x);
  }
};

}  // namespace

extern constexpr OpDef exp_op{
    .name = "exp",
    .summary = "e to the power of x.",
    .params = kUnaryParams,
    .paths = "exp math.exp",
    .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
    .loop = math_loop<vector_math::Exp, Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
