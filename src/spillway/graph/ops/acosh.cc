#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::acosh(x);
  }
};

}  // namespace

extern constexpr OpDef acosh_op{.name = "acosh",
                                .summary = "The inverse hyperbolic cosine.",
                                .params = kUnaryParams,
                                .paths = "acosh math.acosh",
                                .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                                .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
