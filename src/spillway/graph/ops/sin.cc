#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::sin(x);
  }
};

}  // namespace

extern constexpr OpDef sin_op{
    .name = "sin",
    .summary = "The sine.",
    .params = kUnaryParams,
    .paths = "sin math.sin",
    .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
    .loop = math_loop<vector_math::Sin, Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
