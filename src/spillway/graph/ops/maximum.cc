#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x, T y) {
    return x < y || not_a_number(y) ? y : x;  // NaN beside anything is NaN
  }
};

}  // namespace

extern constexpr OpDef maximum_op{.name = "maximum",
                                  .summary = "The larger of x and y, item by item.",
                                  .params = kBinaryParams,
                                  .paths = "maximum math.maximum",
                                  .infer = infer_binary<RealTypes>,
                                  .loop = binary_loop<Op, RealTypes>};

}  // namespace spillway::graph
