#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return std::log(x);
  }
};

}  // namespace

extern constexpr OpDef log_op{.name = "log",
                              .summary = "The natural logarithm.",
                              .params = kUnaryParams,
                              .paths = "math.log",
                              .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                              .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
