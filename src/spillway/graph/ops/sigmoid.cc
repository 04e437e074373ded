#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static inline auto of(T x) {
    return T(1) / (T(1) + std::exp(-x));
  }
};

}  // namespace

extern constexpr OpDef sigmoid_op{.name = "sigmoid",
                                  .summary = "1 / (1 + exp(-x)).",
                                  .params = kUnaryParams,
                                  .paths = "sigmoid math.sigmoid nn.sigmoid",
                                  .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                                  .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
