#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return x / (T(1) + std::exp(-x));
  }
};

struct Fast {
  [[gnu::always_inline]] static std::uint64_t outside(double x) {
    return vector_math::Sigmoid::outside(x);
  }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    return x * vector_math::Sigmoid::of<kShort>(x);
  }
};

constexpr ParamDef kParams[] = {{"features", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef silu_op{.name = "silu",
                               .summary = "x / (1 + exp(-x)).",
                               .params = kParams,
                               .infer = infer_unary<FloatTypes>,
                               .loop = math_loop<Fast, Op, FloatTypes>};

}  // namespace spillway::graph
