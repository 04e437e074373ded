#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return T(1) / std::sqrt(x);
  }
};

}  // namespace

extern constexpr OpDef rsqrt_op{.name = "rsqrt",
                                .summary = "1 / sqrt(x).",
                                .params = kUnaryParams,
                                .paths = "math.rsqrt",
                                .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                                .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
