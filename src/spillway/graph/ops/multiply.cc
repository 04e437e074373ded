#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
  }
};

}  // namespace

extern constexpr OpDef multiply_op{.name = "multiply",
                                   .summary = "x * y, item by item.",
                                   .params = kBinaryParams,
                                   .paths = "multiply math.multiply",
                                   .infer = infer_binary<NumberTypes>,
                                   .loop = binary_loop<Op, NumberTypes>};

}  // namespace spillway::graph
