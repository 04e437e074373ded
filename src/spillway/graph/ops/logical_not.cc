#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return !x;
  }
};

}  // namespace

extern constexpr OpDef logical_not_op{.name = "logical_not",
                                      .summary = "not x, item by item.",
                                      .params = kUnaryParams,
                                      .paths = "logical_not math.logical_not",
                                      .infer = infer_unary<BoolType>,
                                      .loop = unary_loop<Op, BoolType>};

}  // namespace spillway::graph
