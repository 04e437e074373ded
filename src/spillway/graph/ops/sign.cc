#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return x > T(0) ? T(1) : x < T(0) ? static_cast<T>(-1) : x;
  }
};

}  // namespace

extern constexpr OpDef sign_op{.name = "sign",
                               .summary = "-1, 0 or 1; NaN stays NaN.",
                               .params = kUnaryParams,
                               .paths = "sign math.sign",
                               .infer = infer_unary<RealTypes>,
                               .loop = unary_loop<Op, RealTypes>};

}  // namespace spillway::graph
