#include "spillway/graph/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace spillway::testing {
namespace {

using graph::Gemm;
using graph::Layout;
using graph::Product;
using graph::Simd;

struct Turned {
  bool a = false;
  bool b = false;
};

Product product_of(std::int64_t m, std::int64_t k, std::int64_t n, Turned turned = {}) {
  Product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = turned.a ? Layout{1, m} : Layout{k, 1};
  p.b = turned.b ? Layout{1, k} : Layout{n, 1};
  p.c = {n, 1};
  return p;
}

// Numbers whose sums round, so that another order gives other bits.
template <class T>
std::vector<T> numbers(std::int64_t n, std::uint32_t seed) {
  std::vector<T> out(static_cast<std::size_t>(n));
  for (T& item : out) {
    seed = seed * 1664525U + 1013904223U;
    const auto wide = static_cast<std::int32_t>(seed >> 8U) - (1 << 23);
    if constexpr (graph::kInteger<T>) {
      item = static_cast<T>(wide);
    } else {
      item = static_cast<T>(static_cast<graph::Wide<T>>(wide) / 8e6F);
    }
  }
  return out;
}

template <class T>
struct Operands {
  explicit Operands(const Product& p) : a(numbers<T>(p.m * p.k, 1)), b(numbers<T>(p.k * p.n, 2)) {}
  std::vector<T> a;
  std::vector<T> b;
};

// The whole product, or part by part from the last on; behind the scratch and the result, what must
// not change.
template <class T>
std::vector<T> multiply(const Product& p, const Operands<T>& x, Simd level, bool in_parts = false) {
  const Gemm<T> gemm(p, level);
  constexpr std::size_t kGuard = 64;
  std::vector<std::byte> scratch(gemm.scratch() + kGuard, std::byte{0xab});
  std::vector<T> c(static_cast<std::size_t>(p.m * p.n) + 1);
  std::memset(static_cast<void*>(c.data()), 0xab, c.size() * sizeof(T));
  if (in_parts) {
    for (std::int64_t part = gemm.parts(); part-- > 0;) {
      gemm.run_part(part, x.a.data(), x.b.data(), c.data(), scratch.data());
    }
  } else {
    gemm.run(x.a.data(), x.b.data(), c.data(), scratch.data());
  }
  for (const std::byte b : std::as_bytes(std::span(&c.back(), 1))) EXPECT_EQ(b, std::byte{0xab});
  for (std::size_t i = gemm.scratch(); i < scratch.size(); ++i)
    EXPECT_EQ(scratch[i], std::byte{0xab});
  c.pop_back();
  return c;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

std::vector<Simd> levels() {
  std::vector<Simd> out;
  for (const Simd level : {Simd::kBaseline, Simd::kAvx2, Simd::kAvx512}) {
    if (level <= graph::simd_level()) out.push_back(level);
  }
  return out;
}

// Each item over k in order, each product fused: the order of everything but few columns.
template <class T>
std::vector<T> in_order(const Product& p, const Operands<T>& x) {
  std::vector<T> c(static_cast<std::size_t>(p.m * p.n));
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      graph::Summed<T> sum(0);
      for (std::int64_t k = 0; k < p.k; ++k) {
        const auto at_a = static_cast<std::size_t>(i * p.a.row + k * p.a.column);
        const auto at_b = static_cast<std::size_t>(k * p.b.row + j * p.b.column);
        const auto u = static_cast<graph::Summed<T>>(graph::widen(x.a[at_a]));
        const auto v = static_cast<graph::Summed<T>>(graph::widen(x.b[at_b]));
        if constexpr (graph::kFloating<T>) {
          sum = std::fma(u, v, sum);
        } else {
          sum += u * v;
        }
      }
      c[static_cast<std::size_t>(i * p.n + j)] = static_cast<T>(sum);
    }
  }
  return c;
}

template <class T>
void expect_in_order(const Product& p) {
  const Operands<T> x(p);
  const std::vector<T> want = in_order(p, x);
  for (const Simd level : levels()) {
    EXPECT_TRUE(same_bits(multiply(p, x, level), want))
        << p.m << " x " << p.k << " x " << p.n << (p.a.column == 1 ? "" : ", a turned")
        << (p.b.column == 1 ? "" : ", b turned") << ", level " << static_cast<int>(level);
  }
}

constexpr Turned kAllTurns[] = {{false, false}, {true, false}, {false, true}, {true, true}};

TEST(Gemm, SumsInOrderAroundTheEdgesOfTiles) {
  for (const Turned turned : kAllTurns) {
    for (const std::int64_t m : {8, 9, 15, 17, 39}) {
      for (const std::int64_t n : {8, 15, 16, 17, 31, 33, 47, 48, 49, 97}) {
        expect_in_order<float>(product_of(m, 5, n, turned));
      }
    }
    for (const std::int64_t n : {8, 9, 23, 24, 25}) {
      expect_in_order<double>(product_of(11, 7, n, turned));
    }
  }
}

TEST(Gemm, SumsInOrderAroundTheEdgesOfBlocks) {
  for (const Turned turned : kAllTurns) {
    for (const std::int64_t k : {255, 256, 257, 513}) {
      expect_in_order<float>(product_of(39, k, 49, turned));
    }
    expect_in_order<double>(product_of(37, 129, 150, turned));
    for (const std::int64_t n : {767, 768, 769}) {
      expect_in_order<float>(product_of(34, 3, n, turned));
    }
    for (const std::int64_t m : {1, 7, 8}) {  // b streams by
      for (const std::int64_t k : {15, 16, 17, 31}) {
        expect_in_order<float>(product_of(m, k, 200, turned));
      }
    }
  }
}

TEST(Gemm, SumsInOrderWhereSumsAreWiderThanItems) {
  for (const Turned turned : kAllTurns) {
    const Product p = product_of(259, 257, 17, turned);
    expect_in_order<graph::Half>(p);
    expect_in_order<graph::BFloat16>(p);
    expect_in_order<std::int16_t>(p);
    expect_in_order<std::int32_t>(product_of(21, 40, 50, turned));
    expect_in_order<std::int64_t>(product_of(21, 140, 50, turned));
  }
}

TEST(Gemm, FewRowsOrColumnsGiveTheSameBitsOnEveryLevel) {
  for (const Turned turned : kAllTurns) {
    for (const std::int64_t few : {1, 2, 3, 7}) {
      for (const std::int64_t k : {1, 31, 32, 33, 100, 4095, 4097}) {
        for (const bool rows : {false, true}) {
          const Product p = rows ? product_of(few, k, 67, turned) : product_of(67, k, few, turned);
          const Operands<float> x(p);
          const std::vector<float> want = multiply(p, x, Simd::kBaseline);
          for (const Simd level : levels()) EXPECT_TRUE(same_bits(multiply(p, x, level), want));
          const std::vector<float> plain = in_order(p, x);
          for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(want[i], plain[i], 1e-3);
        }
      }
    }
  }
}

TEST(Gemm, PartsGiveTheSameBitsAsTheWhole) {
  for (const Turned turned : kAllTurns) {
    for (const Product& p : {product_of(530, 40, 1030, turned), product_of(20'001, 150, 3, turned),
                             product_of(5, 300, 7001, turned)}) {
      const Operands<float> x(p);
      const Simd level = graph::simd_level();
      EXPECT_TRUE(same_bits(multiply(p, x, level, true), multiply(p, x, level)));
    }
  }
}

template <class T>
void expect_stretches_as_the_whole(const Product& p, std::int64_t stretch) {
  const Simd level = graph::simd_level();
  const Operands<T> x(p);
  ASSERT_TRUE(Gemm<T>(p, level).in_stretches());
  std::vector<T> c(static_cast<std::size_t>(p.m * p.n));
  for (std::int64_t k = 0; k < p.k; k += stretch) {
    Product some = p;
    some.k = std::min(stretch, p.k - k);
    const Gemm<T> gemm(some, level);
    std::vector<std::byte> scratch(gemm.scratch());
    for (std::int64_t part = 0; part < gemm.parts(); ++part) {
      gemm.run_part(part, x.a.data() + k * p.a.column, x.b.data() + k * p.b.row, c.data(),
                    scratch.data(), k > 0);
    }
  }
  EXPECT_TRUE(same_bits(c, multiply(p, x, level)));
}

TEST(Gemm, StretchesOfKGiveTheSameBitsAsTheWhole) {
  for (const std::int64_t stretch : {1, 77, 256, 300}) {
    expect_stretches_as_the_whole<float>(product_of(53, 700, 103), stretch);
    expect_stretches_as_the_whole<double>(product_of(530, 290, 50), stretch);
    expect_stretches_as_the_whole<std::int32_t>(product_of(9, 290, 50), stretch);
  }
  // Rows summed in lanes along k, and sums that are wider than items, are not taken in stretches.
  EXPECT_FALSE(Gemm<float>(product_of(100, 100, 5)).in_stretches());
  EXPECT_FALSE(Gemm<graph::Half>(product_of(100, 100, 100)).in_stretches());
}

TEST(Gemm, ScratchDoesNotGrowWithTheProduct) {
  constexpr std::int64_t kLong = 1'000'000;
  for (const Turned turned : kAllTurns) {
    for (const Product& p :
         {product_of(kLong, kLong, kLong, turned), product_of(kLong, kLong, 5, turned),
          product_of(1, kLong, kLong, turned), product_of(64, kLong, 64, turned)}) {
      EXPECT_LE(Gemm<float>(p).scratch(), std::size_t{2} << 20U);
      EXPECT_LE(Gemm<double>(p).scratch(), std::size_t{2} << 20U);
      EXPECT_LE(Gemm<graph::Half>(p).scratch(), std::size_t{2} << 20U);
    }
  }
}

TEST(Gemm, NothingToSumIsZeroAndNothingToMakeIsNothing) {
  for (const Simd level : levels()) {
    const Product zeros = product_of(9, 0, 17);
    EXPECT_EQ(multiply(zeros, Operands<float>(zeros), level), std::vector<float>(9 * 17, 0));
    for (const Product& p : {product_of(0, 40, 17), product_of(17, 40, 0), product_of(0, 0, 0)}) {
      EXPECT_TRUE(multiply(p, Operands<float>(p), level).empty());
    }
  }
}

TEST(Gemm, WhatIsNotFiniteReachesItsRowAndColumnAlone) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const Simd level : levels()) {
    for (const std::int64_t n : {3, 19, 50}) {
      const Product p = product_of(13, 40, n);
      Operands<float> x(p);
      x.a[5 * 40 + 7] = kNan;
      x.b[static_cast<std::size_t>(39 * n + 2)] = kInf;
      const std::vector<float> c = multiply(p, x, level);
      for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          const float item = c[static_cast<std::size_t>(i * n + j)];
          EXPECT_EQ(std::isnan(item), i == 5) << i << ", " << j;
          EXPECT_EQ(std::isinf(item), i != 5 && j == 2) << i << ", " << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace spillway::testing
