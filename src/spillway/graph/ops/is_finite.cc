#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::isfinite(x);
  }
};

}  // namespace

extern constexpr OpDef is_finite_op{.name = "is_finite",
                                    .summary = "Where x is a finite number.",
                                    .params = kUnaryParams,
                                    .paths = "math.is_finite",
                                    .infer = infer_test<FloatTypes>,
                                    .loop = test_loop<Op, FloatTypes>};

}  // namespace spillway::graph
