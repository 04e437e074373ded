#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::isinf(x);
  }
};

}  // namespace

extern constexpr OpDef is_inf_op{.name = "is_inf",
                                 .summary = "Where x is infinite.",
                                 .params = kUnaryParams,
                                 .paths = "math.is_inf",
                                 .infer = infer_test<FloatTypes>,
                                 .loop = test_loop<Op, FloatTypes>};

}  // namespace spillway::graph
