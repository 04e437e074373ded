#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::cosh(x);
  }
};

}  // namespace

extern constexpr OpDef cosh_op{.name = "cosh",
                               .summary = "The hyperbolic cosine.",
                               .params = kUnaryParams,
                               .paths = "cosh math.cosh",
                               .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                               .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
