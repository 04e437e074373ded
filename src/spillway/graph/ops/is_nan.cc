#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::isnan(x);
  }
};

}  // namespace

extern constexpr OpDef is_nan_op{.name = "is_nan",
                                 .summary = "Where x is not a number.",
                                 .params = kUnaryParams,
                                 .paths = "math.is_nan",
                                 .infer = infer_test<FloatTypes>,
                                 .loop = test_loop<Op, FloatTypes>};

}  // namespace spillway::graph
