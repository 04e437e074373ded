#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x, T y) {
    return static_cast<T>(x & y);
  }
};

}  // namespace

extern constexpr OpDef bitwise_and_op{.name = "bitwise_and",
                                      .summary = "The bits of x & y, item by item.",
                                      .params = kBinaryParams,
                                      .paths = "bitwise.bitwise_and",
                                      .infer = infer_binary<IntegerTypes>,
                                      .loop = binary_loop<Op, IntegerTypes>};

}  // namespace spillway::graph
