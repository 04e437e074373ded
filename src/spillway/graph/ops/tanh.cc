#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::tanh(x);
  }
};

}  // namespace

extern constexpr OpDef tanh_op{
    .name = "tanh",
    .summary = "The hyperbolic tangent.",
    .params = kUnaryParams,
    .paths = "tanh math.tanh nn.tanh",
    .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
    .loop = math_loop<vector_math::Tanh, Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
