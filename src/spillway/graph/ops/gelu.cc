#include <cmath>

#include "spillway/graph/vector_math.h"

namespace spillway::graph {
namespace {

// Two of the constants are floats for every type, as TensorFlow's are.
constexpr double kRoot = 0.70710678118654752440F;
constexpr double kCubic = 0.044715F;
constexpr double kSlope = 0.7978845608028653559;  // sqrt(2 / pi)

// x times the probability that a normal number is below x. By the complement, which keeps its
// digits where that is small.
struct Exact {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    return T(0.5) * x * std::erfc(x * static_cast<T>(-kRoot));
  }
};

struct Approximate {
  template <class T>
  [[gnu::always_inline]] static auto of(T x) {
    const T at = static_cast<T>(kSlope) * (x + static_cast<T>(kCubic) * x * x * x);
    return T(0.5) * x * (T(1) + std::tanh(at));
  }
};

// (1 + tanh(y)) / 2 is 1 / (1 + exp(-2 y)), which keeps its digits where that is small.
struct FastApproximate {
  [[gnu::always_inline]] static double at(double x) {
    return 2.0 * kSlope * (x + kCubic * x * x * x);
  }
  [[gnu::always_inline]] static std::uint64_t outside(double x) {
    return vector_math::Sigmoid::outside(at(x));
  }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    return x * vector_math::Sigmoid::of<kShort>(at(x));
  }
};

Result<Loop> loop(const Prepare& p) {
  return p.attrs.get_or("approximate", false)
             ? math_loop<FastApproximate, Approximate, FloatTypes>(p)
             : unary_loop<Exact, FloatTypes>(p);
}

constexpr ParamDef kParams[] = {{"features", ParamKind::kTensor},
                                {"approximate", ParamKind::kBool, "False"}};

}  // namespace

extern constexpr OpDef gelu_op{
    .name = "gelu",
    .summary = "x times the probability that a normal number is below x; by tanh if approximate.",
    .params = kParams,
    .paths = "nn.gelu",
    .infer = infer_unary<FloatTypes>,
    .loop = loop};

}  // namespace spillway::graph
