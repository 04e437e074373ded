#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return x < T(0) ? T(0) : x;
  }
};

}  // namespace

extern constexpr OpDef relu_op{.name = "relu",
                               .summary = "x where it is positive, else 0.",
                               .params = kUnaryParams,
                               .paths = "nn.relu",
                               .infer = infer_unary<RealTypes>,
                               .loop = unary_loop<Op, RealTypes>};

}  // namespace spillway::graph
