#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

// For these, mean 0 and variance 1 of what goes in come out again.
constexpr double kScale = 1.0507009873554804934193349852946;
constexpr double kNegativeScale = 1.7580993408473768599402175208123;

struct Op {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return x < T(0) ? static_cast<T>(kNegativeScale) * std::expm1(x) : static_cast<T>(kScale) * x;
  }
};

struct Fast {
  [[gnu::always_inline]] static std::uint64_t outside(double x) {
    return vector_math::Expm1::outside(x);
  }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    using vector_math::chosen;
    const double low = vector_math::Expm1::of<kShort>(chosen(x, x, 0.0));
    return chosen(x, kNegativeScale * low, kScale * x);
  }
};

constexpr ParamDef kParams[] = {{"features", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef selu_op{.name = "selu",
                               .summary = "1.0507 x, and 1.7581 (exp(x) - 1) for negative x.",
                               .params = kParams,
                               .paths = "nn.selu",
                               .infer = infer_unary<FloatTypes>,
                               .loop = math_loop<Fast, Op, FloatTypes>};

}  // namespace spillway::graph
