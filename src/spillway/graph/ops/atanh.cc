#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::atanh(x);
  }
};

}  // namespace

extern constexpr OpDef atanh_op{.name = "atanh",
                                .summary = "The inverse hyperbolic tangent.",
                                .params = kUnaryParams,
                                .paths = "atanh math.atanh",
                                .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                                .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
