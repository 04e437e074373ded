#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::acos(x);
  }
};

}  // namespace

extern constexpr OpDef acos_op{.name = "acos",
                               .summary = "The inverse cosine.",
                               .params = kUnaryParams,
                               .paths = "acos math.acos",
                               .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                               .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
