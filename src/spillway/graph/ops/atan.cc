#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::atan(x);
  }
};

}  // namespace

extern constexpr OpDef atan_op{.name = "atan",
                               .summary = "The inverse tangent.",
                               .params = kUnaryParams,
                               .paths = "atan math.atan",
                               .infer = infer_unary<decltype(FloatTypes{} | ComplexTypes{})>,
                               .loop = unary_loop<Op, decltype(FloatTypes{} | ComplexTypes{})>};

}  // namespace spillway::graph
