#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::cos(x);
  }
};

}  // namespace

extern constexpr OpDef cos_op{.name = "cos",
                              .summary = "The cosine.",
                              .params = kUnaryParams,
                              .paths = "cos math.cos",
                              .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                              .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
