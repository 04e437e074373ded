#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x, T y) {
    return static_cast<T>(x | y);
  }
};

}  // namespace

extern constexpr OpDef bitwise_or_op{.name = "bitwise_or",
                                     .summary = "The bits of x | y, item by item.",
                                     .params = kBinaryParams,
                                     .paths = "bitwise.bitwise_or",
                                     .infer = infer_binary<IntegerTypes>,
                                     .loop = binary_loop<Op, IntegerTypes>};

}  // namespace spillway::graph
