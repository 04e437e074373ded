#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "spillway/graph/elementwise.h"

// Transcendental functions of whole runs of items. Straight lines without branches, so that the
// compiler vectorises them; the same operations in the same order on every SIMD level and at every
// place in a run, so the same bits. Items a method does not cover are the C library's, one by one.
//
// The methods are the textbooks' (Cody and Waite: reduction by constants in parts; Dekker: sums and
// products with their errors). Polynomials were fitted for this file by Remez's exchange, to the
// relative error that is noted. Smaller floats are computed in double with shorter polynomials and
// rounded once. The worst errors among 16 million arguments that the methods cover are beside each
// function, in units in the last place; vector_math_test.cc measures them.
namespace spillway::graph {
namespace vector_math {

// Adding it rounds to an integer, whose two's complement is then in the low bits.
inline constexpr double kShift = 0x1.8p52;
inline constexpr double kLog2E = 0x1.71547652b82fep0;
// log(2) in two parts: a product of the first with an exponent is exact.
inline constexpr double kLn2[] = {0x1.62e42fefa2p-1, 0x1.9ef35793c7673p-41};
// pi/2 in three parts: products of the first two with integers below 2^16 are exact.
inline constexpr double kHalfPi[] = {0x1.921fb54440000p+0, 0x1.68c234c4c0000p-39,
                                     0x1.98a2e03707345p-77};
inline constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;

// A number as the sum of two, the second a rounding error of the first.
struct Pair {
  double high;
  double low;
};

[[gnu::always_inline]] inline std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}
[[gnu::always_inline]] inline double number(std::uint64_t x) { return std::bit_cast<double>(x); }
[[gnu::always_inline]] inline double magnitude(double x) { return number(bits(x) & ~kSign); }
[[gnu::always_inline]] inline double with_sign(double x, double of) {
  return number((bits(x) & ~kSign) | (bits(of) & kSign));
}
// `a` where `sign` is negative, else `b`. By the bit: a comparison would become a branch, or need
// what plain SSE2 has not.
[[gnu::always_inline]] inline double chosen(double sign, double a, double b) {
  const std::uint64_t mask = 0U - (bits(sign) >> 63U);
  return number(bits(b) ^ ((bits(a) ^ bits(b)) & mask));
}
[[gnu::always_inline]] inline double at_most(double x, double most) {
  return chosen(most - x, most, x);
}
// The highest bit says whether |x| > most, or x is not a number.
[[gnu::always_inline]] inline std::uint64_t beyond(double x, double most) {
  return bits(most) - (bits(x) & ~kSign);
}
// 2^n for an integer -1022 <= n <= 1023.
[[gnu::always_inline]] inline double power_of_two(double n) {
  return number((bits(n + kShift) + 1023U) << 52U);
}

[[gnu::always_inline]] inline Pair sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
// Where |a| >= |b|, or a is 0.
[[gnu::always_inline]] inline Pair ordered_sum(double a, double b) {
  const double s = a + b;
  return {s, (a - s) + b};
}
[[gnu::always_inline]] inline Pair halves(double x) {
  const double t = x * 0x1.0000002p27;
  const double high = t - (t - x);
  return {high, x - high};
}
// The quotient of two numbers in parts, to about half a unit in the last place.
[[gnu::always_inline]] inline double quotient(Pair a, Pair b) {
  const double inverse = 1.0 / b.high;
  const double q = a.high * inverse;
  const double back = q * b.high;
  const Pair x = halves(q);
  const Pair y = halves(b.high);
  const double error =
      ((x.high * y.high - back) + (x.high * y.low + x.low * y.high)) + x.low * y.low;
  return q + (((a.high - back) - error) + (a.low - q * b.low)) * inverse;
}

template <std::size_t kCount>
[[gnu::always_inline]] inline double polynomial(double x, const double (&c)[kCount]) {
  double p = c[kCount - 1];
  for (std::size_t i = kCount - 1; i-- > 0;) p = p * x + c[i];
  return p;
}

// ---- The polynomials
// -----------------------------------------------------------------------------

// sin(r) = r + r z p(z), z = r r, |r| <= pi/4: 2^-58, 2^-37.
inline constexpr double kSin[] = {-0x1.5555555555549p-3,  0x1.111111110f87ap-7,
                                  -0x1.a01a019c11978p-13, 0x1.71de3577b56b1p-19,
                                  -0x1.ae5e6639d428fp-26, 0x1.5d9300cf1885p-33};
inline constexpr double kShortSin[] = {-0x1.5555554cb9151p-3, 0x1.11110895ae2c8p-7,
                                       -0x1.a00f9d259ad08p-13, 0x1.6cd8392f2646p-19};
// cos(r) = 1 - z/2 + z z p(z): 2^-64, 2^-43.
inline constexpr double kCos[] = {0x1.555555555554cp-5,  -0x1.6c16c16c1517ep-10,
                                  0x1.a01a019cb1bebp-16, -0x1.27e4f809f15ecp-22,
                                  0x1.1ee9ebe9aae8p-29,  -0x1.8fae9cb444a43p-37};
inline constexpr double kShortCos[] = {0x1.5555554f4db04p-5, -0x1.6c16b89825402p-10,
                                       0x1.a0111fb708374p-16, -0x1.242abe6182fa1p-22};
// exp(r) = 1 + r + r r p(r), |r| <= log(2)/2: 2^-61 and 2^-32 of r.
inline constexpr double kExp[] = {0x1p-1,
                                  0x1.5555555555559p-3,
                                  0x1.555555555555ap-5,
                                  0x1.111111110f6afp-7,
                                  0x1.6c16c16c1447p-10,
                                  0x1.a01a01afe52d1p-13,
                                  0x1.a01a01b0ae7c2p-16,
                                  0x1.71ddf8538c8e5p-19,
                                  0x1.27e4c5b0f91c4p-22,
                                  0x1.af5ebf2708bd6p-26,
                                  0x1.1f954d1e3d3bep-29};
inline constexpr double kShortExp[] = {0x1.00000027dec3ap-1,  0x1.5555558906421p-3,
                                       0x1.5554add3873b4p-5,  0x1.11108f993b6fbp-7,
                                       0x1.6d74863f0a4bep-10, 0x1.a1a165a5fd386p-13};
// log((1 + s) / (1 - s)) = 2 s + s z p(z), z = s s, for numbers within sqrt(2) of 1: 2^-58, 2^-36.
inline constexpr double kLog[] = {0x1.5555555555592p-1, 0x1.999999997fd39p-2, 0x1.24924941f8b86p-2,
                                  0x1.c71c5202bfa5dp-3, 0x1.7466405a6211dp-3, 0x1.39a193483419ap-3,
                                  0x1.2f070579abef3p-3};
inline constexpr double kShortLog[] = {0x1.555554fd8a14dp-1, 0x1.999a7aaeaa1f4p-2,
                                       0x1.2438ce1472cf4p-2, 0x1.e2f7e2ab93bb8p-3};

// ---- What the functions share
// --------------------------------------------------------------------

// sin(x + quarters * pi/2). The rest of a reduction is kept in two parts: near a multiple of pi/2
// little is left of x.
template <bool kShort>
[[gnu::always_inline]] inline double sine(double x, std::uint64_t quarters) {
  const double shifted = x * 0x1.45f306dc9c883p-1 + kShift;
  const double n = shifted - kShift;
  double rest = x - n * kHalfPi[0];
  double s = 0;
  double c = 0;
  if constexpr (kShort) {
    rest -= n * (kHalfPi[1] + kHalfPi[2]);
    const double z = rest * rest;
    s = rest + rest * z * polynomial(z, kShortSin);
    c = 1.0 - z * (0.5 - z * polynomial(z, kShortCos));
  } else {
    const Pair second = sum(rest, -(n * kHalfPi[1]));
    const Pair r = ordered_sum(second.high, second.low - n * kHalfPi[2]);
    const double z = r.high * r.high;
    const double half = 0.5 * z;
    const double most = 1.0 - half;
    s = r.high + (r.high * z * polynomial(z, kSin) + r.low * most);
    c = most + (((1.0 - most) - half) + (z * z * polynomial(z, kCos) - r.high * r.low));
  }
  // In odd quarters the two change places; by masks, since a branch would not vectorise.
  const std::uint64_t turn = bits(shifted) + quarters;
  const std::uint64_t odd = 0U - (turn & 1U);
  return number(bits(s) ^ ((bits(s) ^ bits(c)) & odd) ^ (turn & 2U) << 62U);
}

// x = n log(2) + rest.
struct Exponent {
  double n;
  Pair rest;
};
[[gnu::always_inline]] inline Exponent exponent_of(double x) {
  const double n = (x * kLog2E + kShift) - kShift;
  const double first = x - n * kLn2[0];
  const double second = n * kLn2[1];
  const double rest = first - second;
  return {n, {rest, (first - rest) - second}};
}
// exp(r) - 1 - r.
[[gnu::always_inline]] inline double exp_tail(Pair r) {
  return r.high * r.high * polynomial(r.high, kExp) + r.low * (1.0 + r.high);
}
// exp(x) 2^-n in two parts.
[[gnu::always_inline]] inline Pair exp_pair(const Exponent& e) {
  const Pair most = ordered_sum(1.0, e.rest.high);
  return ordered_sum(most.high, most.low + exp_tail(e.rest));
}
[[gnu::always_inline]] inline double short_exp_tail(double r) {
  return r * r * polynomial(r, kShortExp);
}
[[gnu::always_inline]] inline double short_exp(double x) {
  const Exponent e = exponent_of(x);
  const double r = e.rest.high;
  return (1.0 + (r + short_exp_tail(r))) * power_of_two(e.n);
}
[[gnu::always_inline]] inline double short_expm1(double x) {
  const Exponent e = exponent_of(x);
  const double scale = power_of_two(e.n);
  return scale * (e.rest.high + short_exp_tail(e.rest.high)) + (scale - 1.0);
}
// (exp(x) - 1) 2^-n in two parts: exp(r) - 1, and 1 - 2^-n exactly.
[[gnu::always_inline]] inline Pair expm1_pair(const Exponent& e) {
  const Pair own = ordered_sum(e.rest.high, exp_tail(e.rest));
  const double less = power_of_two(-e.n);
  const double most = 1.0 - less;
  const double lost = chosen(less - 1.0, (1.0 - most) - less, 0.0);
  const Pair both = ordered_sum(most, own.high);
  return ordered_sum(both.high, both.low + (own.low + lost));
}

// x = 2^n (1 + f), within sqrt(2) of 2^n. Of normal positive numbers.
struct Binary {
  double n;
  double f;
};
[[gnu::always_inline]] inline Binary binary_of(double x) {
  constexpr std::uint64_t kLeast = 0x3FE6A09E667F3BCDU;  // sqrt(1/2)
  const std::uint64_t up = bits(x) + (0x3FF0000000000000U - kLeast);
  const double n = number((up >> 52U) | 0x4330000000000000U) - (0x1p52 + 1023.0);
  return {n, number((up & 0xFFFFFFFFFFFFFU) + kLeast) - 1.0};
}
// log(2^n (1 + f)) + more, where `more` is within a rounding error of that.
template <bool kShort>
[[gnu::always_inline]] inline double logarithm(Binary x, double more) {
  const double s = x.f / (2.0 + x.f);
  const double z = s * s;
  if constexpr (kShort) {
    return x.n * (kLn2[0] + kLn2[1]) + ((s + s) + (s * z * polynomial(z, kShortLog) + more));
  } else {
    const double half = 0.5 * x.f * x.f;
    const Pair most = ordered_sum(x.n * kLn2[0], x.f);
    const double rest = s * (half + z * polynomial(z, kLog)) + (x.n * kLn2[1] + more);
    return most.high + (most.low + (rest - half));
  }
}

// ---- The functions
// -------------------------------------------------------------------------------

// of<kShort>: in double, or as much of it as a float needs. outside: the highest bit says that x is
// not covered.

struct Sin {  // 0.79, float 0.51
  [[gnu::always_inline]] static std::uint64_t outside(double x) { return beyond(x, 1e5); }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    return number(bits(sine<kShort>(magnitude(x), 0)) ^ (bits(x) & kSign));
  }
};

struct Cos {  // 0.80, float 0.51
  [[gnu::always_inline]] static std::uint64_t outside(double x) { return Sin::outside(x); }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    return sine<kShort>(magnitude(x), 1);
  }
};

struct Exp {  // 0.62, float 0.51
  // Where both the result and 2^n are normal.
  [[gnu::always_inline]] static std::uint64_t outside(double x) { return beyond(x, 708.0); }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    if constexpr (kShort) return short_exp(x);
    const Exponent e = exponent_of(x);
    return exp_pair(e).high * power_of_two(e.n);
  }
};

struct Expm1 {  // 0.93, float 0.51
  [[gnu::always_inline]] static std::uint64_t outside(double x) { return Exp::outside(x); }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    if constexpr (kShort) return with_sign(short_expm1(x), x);
    const Exponent e = exponent_of(x);
    return with_sign(expm1_pair(e).high * power_of_two(e.n), x);
  }
};

struct Log {  // 0.82, float 0.51
  // Normal positive numbers.
  [[gnu::always_inline]] static std::uint64_t outside(double x) {
    using Limits = std::numeric_limits<double>;
    return bits(x) | (bits(x) - bits(Limits::min())) | beyond(x, Limits::max());
  }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    return logarithm<kShort>(binary_of(x), 0.0);
  }
};

struct Log1p {  // 0.84, float 0.51
  // What is above -1 and finite.
  [[gnu::always_inline]] static std::uint64_t outside(double x) {
    return beyond(x, chosen(x, 0x1.fffffffffffffp-1, std::numeric_limits<double>::max()));
  }
  // Near 1 the argument itself is what the series is taken of; elsewhere what 1 + x lost is added.
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    const Pair up = sum(1.0, x);
    Binary b = binary_of(up.high);
    const double lost = up.low / up.high;
    const double near = magnitude(b.n) - 0.5;
    b.f = chosen(near, x, b.f);
    return with_sign(logarithm<kShort>(b, chosen(near, 0.0, lost)), x);
  }
};

struct Tanh {  // 0.77, float 0.51
  [[gnu::always_inline]] static std::uint64_t outside(double x) {
    return beyond(x, std::numeric_limits<double>::infinity());
  }
  // e / (e + 2), where e = exp(2 |x|) - 1.
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    const double twice = magnitude(x) + magnitude(x);
    if constexpr (kShort) {
      const double e = short_expm1(at_most(twice, 20.0));
      return with_sign(e / (e + 2.0), x);
    }
    const Exponent e = exponent_of(at_most(twice, 44.0));
    const Pair p = expm1_pair(e);
    const double scale = power_of_two(e.n);
    const Pair top = {p.high * scale, p.low * scale};
    const Pair below = sum(2.0, top.high);
    return with_sign(quotient(top, {below.high, below.low + top.low}), x);
  }
};

struct Sigmoid {  // 0.75, float 0.51
  [[gnu::always_inline]] static std::uint64_t outside(double x) { return Exp::outside(x); }
  // With e = exp(-|x|): 1 / (1 + e), or e / (1 + e) where x is negative.
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    if constexpr (kShort) return 1.0 / (1.0 + short_exp(-x));
    const Exponent exponent = exponent_of(-magnitude(x));
    const Pair p = exp_pair(exponent);
    const double scale = power_of_two(exponent.n);
    const Pair e = {p.high * scale, p.low * scale};
    const Pair below = ordered_sum(1.0, e.high);
    const Pair top = {chosen(x, e.high, 1.0), chosen(x, e.low, 0.0)};
    return quotient(top, {below.high, below.low + e.low});
  }
};

// log(1 + exp(x)), of the above.
struct Softplus {  // 1.54, float 0.51
  [[gnu::always_inline]] static std::uint64_t outside(double x) { return Exp::outside(x); }
  template <bool kShort>
  [[gnu::always_inline]] static double of(double x) {
    return chosen(x, 0.0, x) + Log1p::of<kShort>(Exp::of<kShort>(-magnitude(x)));
  }
};

}  // namespace vector_math

// out[i] = F of in[i], eight at a time; Op::of(in[i]) for what F does not cover.
template <class F, class Op, class T>
struct MathBody {
  static constexpr std::int64_t kLanes = 8;
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto* __restrict in = reinterpret_cast<const T*>(args.in[0]);
    auto* __restrict out = reinterpret_cast<T*>(args.out);
    std::uint64_t outside[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= args.n; i += kLanes) eight(in + i, out + i, outside);
    if (i < args.n) {
      T from[kLanes];
      T to[kLanes];
      std::fill_n(from, kLanes, static_cast<T>(0.5F));  // which every function covers
      std::copy_n(in + i, args.n - i, from);
      eight(from, to, outside);
      std::copy_n(to, args.n - i, out + i);
    }
    std::uint64_t any = 0;
    for (const std::uint64_t lane : outside) any |= lane;
    if ((any & vector_math::kSign) != 0) [[unlikely]]
      replace(in, out, args.n);
    return -1;
  }

 private:
  static constexpr bool kShort = !std::is_same_v<T, double>;
  [[gnu::always_inline]] static void eight(const T* __restrict in, T* __restrict out,
                                           std::uint64_t* __restrict outside) {
    double x[kLanes];
    double y[kLanes];
    for (std::int64_t k = 0; k < kLanes; ++k) x[k] = static_cast<double>(widen(in[k]));
    for (std::int64_t k = 0; k < kLanes; ++k) y[k] = F::template of<kShort>(x[k]);
    for (std::int64_t k = 0; k < kLanes; ++k) out[k] = static_cast<T>(static_cast<Wide<T>>(y[k]));
    for (std::int64_t k = 0; k < kLanes; ++k) outside[k] |= F::outside(x[k]);
  }
  [[gnu::noinline]] static void replace(const T* in, T* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      if ((F::outside(static_cast<double>(widen(in[i]))) & vector_math::kSign) != 0) {
        out[i] = static_cast<T>(Op::of(widen(in[i])));
      }
    }
  }
};

// T -> T: F, which is one of vector_math's, and Op where that does not reach: complex numbers too.
template <class F, class Op, class Allowed>
Result<Loop> math_loop(const Prepare& p) {
  Loop loop;
  with_type(Allowed(), p.inputs[0].dtype, [&]<class T>() {
    if constexpr (kComplex<T>) {
      loop.fn = SimdLoop<MapBody<InWide<Op, T>, T, T>>::best();
    } else {
      loop.fn = SimdLoop<MathBody<F, Op, T>>::best();
    }
  });
  return loop;
}

}  // namespace spillway::graph
