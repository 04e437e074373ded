#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::sqrt(x);
  }
};

}  // namespace

extern constexpr OpDef sqrt_op{.name = "sqrt",
                               .summary = "The square root.",
                               .params = kUnaryParams,
                               .paths = "sqrt math.sqrt",
                               .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                               .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
