#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static T of(T x) {
    if constexpr (kComplex<T>) {
      // |1 + x|^2 = 1 + (2 + re) re + im^2: the 1 is left to log1p, so that nothing of x is lost.
      const auto re = x.real();
      const auto im = x.imag();
      return {std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re)};
    } else {
      return std::log1p(x);
    }
  }
};

}  // namespace

extern constexpr OpDef log1p_op{
    .name = "log1p",
    .summary = "log(1 + x), exact near zero.",
    .params = kUnaryParams,
    .paths = "math.log1p",
    .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
    .loop = math_loop<vector_math::Log1p, Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
