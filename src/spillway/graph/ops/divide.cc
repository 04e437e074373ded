#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x, T y) {
    return x / y;
  }
};

}  // namespace

extern constexpr OpDef divide_op{.name = "divide",
                                 .summary = "x / y of floats, item by item.",
                                 .params = kBinaryParams,
                                 .paths = "",
                                 .infer = infer_binary<decltype(FloatTypes{} | ComplexTypes{})>,
                                 .loop = binary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
