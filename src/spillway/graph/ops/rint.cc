#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::rint(x);
  }
};

}  // namespace

extern constexpr OpDef rint_op{.name = "rint",
                               .summary = "The nearest whole number, halves to even.",
                               .params = kUnaryParams,
                               .paths = "math.rint",
                               .infer = infer_unary<FloatTypes>,
                               .loop = unary_loop<Op, FloatTypes>};

}  // namespace spillway::graph
