#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static T of(T x) {
    if constexpr (kComplex<T>) {
      // exp(re) cos(im) - 1 without the difference of two numbers near one.
      const auto grown = std::expm1(x.real());
      const auto half = std::sin(x.imag() / 2);
      return {grown - 2 * half * half * (grown + 1), (grown + 1) * std::sin(x.imag())};
    } else {
      return std::expm1(x);
    }
  }
};

}  // namespace

extern constexpr OpDef expm1_op{
    .name = "expm1",
    .summary = "exp(x) - 1, exact near zero.",
    .params = kUnaryParams,
    .paths = "math.expm1",
    .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
    .loop = math_loop<vector_math::Expm1, Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
