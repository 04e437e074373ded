#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x, T y) {
    return x < y;
  }
};

}  // namespace

extern constexpr OpDef less_op{.name = "less",
                               .summary = "x < y, item by item.",
                               .params = kBinaryParams,
                               .paths = "less math.less",
                               .infer = infer_predicate<RealTypes>,
                               .loop = predicate_loop<Op, RealTypes>};

}  // namespace spillway::graph
