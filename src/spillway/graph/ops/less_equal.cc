#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x, T y) {
    return x <= y;
  }
};

}  // namespace

extern constexpr OpDef less_equal_op{.name = "less_equal",
                                     .summary = "x <= y, item by item.",
                                     .params = kBinaryParams,
                                     .paths = "less_equal math.less_equal",
                                     .infer = infer_predicate<RealTypes>,
                                     .loop = predicate_loop<Op, RealTypes>};

}  // namespace spillway::graph
