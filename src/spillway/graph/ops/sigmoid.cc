#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    if constexpr (!kComplex<T>) {
      if (x < T(0)) return std::exp(x) / (T(1) + std::exp(x));
    }
    return T(1) / (T(1) + std::exp(-x));
  }
};

}  // namespace

extern constexpr OpDef sigmoid_op{
    .name = "sigmoid",
    .summary = "1 / (1 + exp(-x)).",
    .params = kUnaryParams,
    .paths = "sigmoid math.sigmoid nn.sigmoid",
    .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
    .loop = math_loop<vector_math::Sigmoid, Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
