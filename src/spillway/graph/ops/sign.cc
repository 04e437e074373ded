#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static T of(T x) {
    if constexpr (kComplex<T>) {
      return x == T(0) ? T(0) : x / T(std::abs(x));  // the point of the unit circle
    } else {
      return x > T(0) ? T(1) : x < T(0) ? static_cast<T>(-1) : x;
    }
  }
};

}  // namespace

extern constexpr OpDef sign_op{
    .name = "sign",
    .summary = "-1, 0 or 1; NaN stays NaN. Of a complex number: x / |x|, or 0.",
    .params = kUnaryParams,
    .paths = "sign math.sign",
    .infer = infer_unary<NumberTypes>,
    .loop = unary_loop<Op, NumberTypes>};

}  // namespace spillway::graph
