#include "spillway/graph/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace spillway::graph {
namespace {

using Quad = long double;

template <auto kFunction>
struct Library {
  template <class T>
  static T of(T x) {
    return kFunction(x);
  }
};

template <class Body>
std::vector<LoopFn> levels() {
  std::vector<LoopFn> all = {SimdLoop<Body>::baseline};
#if defined(__x86_64__)
  if (simd_level() >= Simd::kAvx2) all.push_back(SimdLoop<Body>::avx2);
  if (simd_level() >= Simd::kAvx512) all.push_back(SimdLoop<Body>::avx512);
#endif
  return all;
}

template <class T>
std::vector<T> apply(LoopFn loop, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  const std::byte* in = reinterpret_cast<const std::byte*>(x.data());
  const LoopArgs args = {&in,
                         reinterpret_cast<std::byte*>(y.data()),
                         static_cast<std::int64_t>(x.size()),
                         0,
                         nullptr,
                         nullptr};
  EXPECT_EQ(loop(args), -1);
  return y;
}

// Arguments of every size, around each multiple of the constants that the methods reduce by, and
// what is special.
template <class T>
std::vector<T> arguments(int count) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(20);  // NOLINT(bugprone-random-generator-seed): the same every time
  std::vector<T> x = {T(0),
                      Limits::min(),
                      Limits::denorm_min(),
                      Limits::max(),
                      Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::epsilon(),
                      T(1),
                      T(0.5),
                      T(22),
                      T(44),
                      T(708),
                      T(708.5),
                      T(709.782712893384),
                      T(709.7827128933841),
                      T(745.1332191019411),
                      T(745.1332191019412),
                      T(88.72283),
                      T(88.72284),
                      T(103.97207),
                      T(103.97209),
                      T(1e5),
                      T(100000.01),
                      T(1e22)};
  std::uniform_real_distribution<double> unit(-1, 1);
  for (const double reach : {1.0, 4.0, 30.0, 710.0, 1e5}) {
    for (int i = 0; i < count / 8; ++i) x.push_back(static_cast<T>(reach * unit(random)));
  }
  for (int i = 0; i < count / 8; ++i) {
    const double exponent = (Limits::max_exponent + 52) * unit(random);
    x.push_back(static_cast<T>(std::exp2(exponent)));
    x.push_back(static_cast<T>(1 + std::exp2(-30 + 30 * unit(random)) * unit(random)));
  }
  for (int i = 0; i < count / 8; ++i) {
    const double step = i % 2 == 0 ? 1.5707963267948966 : 0.34657359027997264;
    T near = static_cast<T>(step * static_cast<double>(random() % (i % 3 == 0 ? 60000 : 30)));
    for (std::uint64_t k = random() % 4; k > 0; --k) near = std::nextafter(near, T(0));
    x.push_back(near);
  }
  const std::size_t size = x.size();
  for (std::size_t i = 0; i < size; ++i) x.push_back(-x[i]);
  return x;
}

// The distance from the true value in units in the last place of T there.
template <class T>
double error_of(T got, Quad want) {
  using Limits = std::numeric_limits<T>;
  const T rounded = static_cast<T>(want);
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : 1e30;
  if (std::isinf(got) || std::isinf(rounded)) return got == rounded ? 0 : 1e30;
  if (got == 0 && rounded == 0) return std::signbit(got) == std::signbit(want) ? 0 : 1e30;
  int exponent = 0;
  std::frexp(want, &exponent);
  const int last = std::max(exponent, Limits::min_exponent) - Limits::digits;
  return static_cast<double>(
      std::fabs((static_cast<Quad>(got) - want) / std::ldexp(Quad{1}, last)));
}

template <class F, auto kFunction, class T>
void check(const std::string& name, double most) {
  const std::vector<T> x = arguments<T>(100'000);
  const auto loops = levels<MathBody<F, Library<kFunction>, T>>();
  const std::vector<T> y = apply(loops[0], x);
  double worst = 0;
  T at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = error_of(y[i], kFunction(static_cast<Quad>(x[i])));
    if (error > worst) {
      worst = error;
      at = x[i];
    }
  }
  EXPECT_LE(worst, most) << name << " of " << std::hexfloat << at;
  ::testing::Test::RecordProperty(name + (sizeof(T) == 8 ? "" : "_float"), std::to_string(worst));
  for (const LoopFn loop : loops) {
    const std::vector<T> again = apply(loop, x);
    EXPECT_EQ(std::memcmp(again.data(), y.data(), y.size() * sizeof(T)), 0) << name;
  }
  // Alone, and at every place of a short run.
  for (std::size_t n = 1; n < 20; ++n) {
    const auto first = static_cast<std::ptrdiff_t>(n * 37 % 64);
    const std::vector<T> part(x.begin() + first,
                              x.begin() + first + static_cast<std::ptrdiff_t>(n));
    for (const LoopFn loop : loops) {
      const std::vector<T> own = apply(loop, part);
      EXPECT_EQ(std::memcmp(own.data(), &y[static_cast<std::size_t>(first)], n * sizeof(T)), 0)
          << name << " of " << n;
    }
  }
}

template <class F, auto kFunction>
void check_both(const std::string& name, double most, double most_float) {
  check<F, kFunction, double>(name, most);
  check<F, kFunction, float>(name, most_float);
}

// The library's own floats are worse than ours: what is left to it sets the second bound.
TEST(VectorMath, TurnsAreWithinAUnit) {
  check_both<vector_math::Sin, [](auto x) { return std::sin(x); }>("sin", 1, 0.6);
  check_both<vector_math::Cos, [](auto x) { return std::cos(x); }>("cos", 1, 0.6);
}

TEST(VectorMath, PowersAreWithinAUnit) {
  check_both<vector_math::Exp, [](auto x) { return std::exp(x); }>("exp", 1, 0.51);
  check_both<vector_math::Expm1, [](auto x) { return std::expm1(x); }>("expm1", 1, 0.51);
}

TEST(VectorMath, LogarithmsAreWithinAUnit) {
  check_both<vector_math::Log, [](auto x) { return std::log(x); }>("log", 1, 0.51);
  check_both<vector_math::Log1p, [](auto x) { return std::log1p(x); }>("log1p", 1, 0.51);
}

TEST(VectorMath, CurvesThatSaturateAreWithinAUnit) {
  check_both<vector_math::Tanh, [](auto x) { return std::tanh(x); }>("tanh", 1, 0.51);
  check_both<vector_math::Sigmoid, [](auto x) {
    return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
  }>("sigmoid", 1, 0.51);
}

TEST(VectorMath, SoftplusIsWithinTwoUnits) {
  check_both<vector_math::Softplus, [](auto x) {
    return std::max(x, decltype(x)(0)) + std::log1p(std::exp(-std::abs(x)));
  }>("softplus", 2, 0.51);
}

}  // namespace
}  // namespace spillway::graph
