#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x, T y) {
    return x || y;
  }
};

}  // namespace

extern constexpr OpDef logical_or_op{.name = "logical_or",
                                     .summary = "x or y, item by item.",
                                     .params = kBinaryParams,
                                     .paths = "logical_or math.logical_or",
                                     .infer = infer_binary<BoolType>,
                                     .loop = binary_loop<Op, BoolType>};

}  // namespace spillway::graph
