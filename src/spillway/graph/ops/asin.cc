#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::asin(x);
  }
};

}  // namespace

extern constexpr OpDef asin_op{.name = "asin",
                               .summary = "The inverse sine.",
                               .params = kUnaryParams,
                               .paths = "asin math.asin",
                               .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                               .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
