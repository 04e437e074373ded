#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::asinh(x);
  }
};

}  // namespace

extern constexpr OpDef asinh_op{.name = "asinh",
                                .summary = "The inverse hyperbolic sine.",
                                .params = kUnaryParams,
                                .paths = "asinh math.asinh",
                                .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                                .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
