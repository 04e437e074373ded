#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return static_cast<T>(~x);
  }
};

}  // namespace

extern constexpr OpDef bitwise_invert_op{.name = "bitwise_invert",
                                         .summary = "Every bit turned over.",
                                         .params = kUnaryParams,
                                         .paths = "bitwise.invert",
                                         .infer = infer_unary<IntegerTypes>,
                                         .loop = unary_loop<Op, IntegerTypes>};

}  // namespace spillway::graph
