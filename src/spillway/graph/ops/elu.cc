#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return x < T(0) ? std::expm1(x) : x;
  }
};

struct Fast {
  [[gnu::always_inline]] static std::uint64_t outside(double x) {
    return vector_math::Expm1::outside(x);
  }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    using vector_math::chosen;
    return chosen(x, vector_math::Expm1::of<kShort>(chosen(x, x, 0.0)), x);
  }
};

constexpr ParamDef kParams[] = {{"features", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef elu_op{.name = "elu",
                              .summary = "x, and exp(x) - 1 where that is negative.",
                              .params = kParams,
                              .paths = "nn.elu",
                              .infer = infer_unary<FloatTypes>,
                              .loop = math_loop<Fast, Op, FloatTypes>};

}  // namespace spillway::graph
