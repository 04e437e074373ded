#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x, T y) {
    return y < x || not_a_number(y) ? y : x;  // NaN beside anything is NaN
  }
};

}  // namespace

extern constexpr OpDef minimum_op{.name = "minimum",
                                  .summary = "The smaller of x and y, item by item.",
                                  .params = kBinaryParams,
                                  .paths = "minimum math.minimum",
                                  .infer = infer_binary<RealTypes>,
                                  .loop = binary_loop<Op, RealTypes>};

}  // namespace spillway::graph
