#include <algorithm>
#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
  }
};

}  // namespace

extern constexpr OpDef softplus_op{.name = "softplus",
                                   .summary = "log(1 + exp(x)).",
                                   .params = kUnaryParams,
                                   .paths = "math.softplus nn.softplus",
                                   .infer = infer_unary<FloatTypes>,
                                   .loop = math_loop<vector_math::Softplus, Op, FloatTypes>};

}  // namespace spillway::graph
