#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x, T y) {
    return x && y;
  }
};

}  // namespace

extern constexpr OpDef logical_and_op{.name = "logical_and",
                                      .summary = "x and y, item by item.",
                                      .params = kBinaryParams,
                                      .paths = "logical_and math.logical_and",
                                      .infer = infer_binary<BoolType>,
                                      .loop = binary_loop<Op, BoolType>};

}  // namespace spillway::graph
