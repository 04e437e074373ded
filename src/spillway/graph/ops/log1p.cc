#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::log1p(x);
  }
};

}  // namespace

extern constexpr OpDef log1p_op{.name = "log1p",
                                .summary = "log(1 + x), exact near zero.",
                                .params = kUnaryParams,
                                .paths = "math.log1p",
                                .infer = infer_unary<FloatTypes>,
                                .loop = unary_loop<Op, FloatTypes>};

}  // namespace spillway::graph
