#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::tan(x);
  }
};

}  // namespace

extern constexpr OpDef tan_op{.name = "tan",
                              .summary = "The tangent.",
                              .params = kUnaryParams,
                              .paths = "tan math.tan",
                              .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                              .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
