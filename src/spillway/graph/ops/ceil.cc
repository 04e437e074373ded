#include <cmath>

#include "spillway/graph/elementwise.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::ceil(x);
  }
};

}  // namespace

extern constexpr OpDef ceil_op{.name = "ceil",
                               .summary = "The smallest whole number not below x.",
                               .params = kUnaryParams,
                               .paths = "math.ceil",
                               .infer = infer_unary<FloatTypes>,
                               .loop = unary_loop<Op, FloatTypes>};

}  // namespace spillway::graph
