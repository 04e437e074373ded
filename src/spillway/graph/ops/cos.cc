#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::cos(x);
  }
};

}  // namespace

extern constexpr OpDef cos_op{
    .name = "cos",
    .summary = "The cosine.",
    .params = kUnaryParams,
    .paths = "cos math.cos",
    .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
    .loop = math_loop<vector_math::Cos, Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
