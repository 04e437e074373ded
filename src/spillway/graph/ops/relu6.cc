#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return x < T(0) ? T(0) : x > T(6) ? T(6) : x;
  }
};

}  // namespace

extern constexpr OpDef relu6_op{.name = "relu6",
                                .summary = "x kept between 0 and 6.",
                                .params = kUnaryParams,
                                .paths = "nn.relu6",
                                .infer = infer_unary<RealTypes>,
                                .loop = unary_loop<Op, RealTypes>};

}  // namespace spillway::graph
