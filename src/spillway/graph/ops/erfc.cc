#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::erfc(x);
  }
};

}  // namespace

extern constexpr OpDef erfc_op{.name = "erfc",
                               .summary = "1 - erf(x).",
                               .params = kUnaryParams,
                               .paths = "math.erfc",
                               .infer = infer_unary<FloatTypes>,
                               .loop = unary_loop<Op, FloatTypes>};

}  // namespace spillway::graph
