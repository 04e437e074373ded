#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::erf(x);
  }
};

}  // namespace

extern constexpr OpDef erf_op{.name = "erf",
                              .summary = "The error function.",
                              .params = kUnaryParams,
                              .paths = "math.erf",
                              .infer = infer_unary<FloatTypes>,
                              .loop = unary_loop<Op, FloatTypes>};

}  // namespace spillway::graph
