#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::sinh(x);
  }
};

}  // namespace

extern constexpr OpDef sinh_op{.name = "sinh",
                               .summary = "The hyperbolic sine.",
                               .params = kUnaryParams,
                               .paths = "sinh math.sinh",
                               .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                               .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
