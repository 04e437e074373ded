#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::log(x);
  }
};

}  // namespace

extern constexpr OpDef log_op{
    .name = "log",
    .summary = "The natural logarithm.",
    .params = kUnaryParams,
    .paths = "math.log",
    .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
    .loop = math_loop<vector_math::Log, Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
