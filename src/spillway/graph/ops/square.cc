#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(x));
  }
};

}  // namespace

extern constexpr OpDef square_op{.name = "square",
                                 .summary = "x * x.",
                                 .params = kUnaryParams,
                                 .paths = "square math.square",
                                 .infer = infer_unary<NumberTypes>,
                                 .loop = unary_loop<Op, NumberTypes>};

}  // namespace spillway::graph
