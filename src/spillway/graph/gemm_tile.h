#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>  // makes g++ know the builtins
#endif

// The innermost loops of a product of matrices, for several instruction sets. All of them fuse each
// product with its sum, and so agree to the last bit.
namespace spillway::graph {

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"  // no call passes a vector: everything is inlined
#endif

// sum += x * y, rounded once. Compilers have no one name for it, and what they fuse by themselves
// depends on how they were called. Without instructions for it, the library's fma is exact, too.
template <class A, class Vector>
[[gnu::always_inline]] inline void add_product(Vector& sum, const Vector& x, const Vector& y) {
  if constexpr (!std::is_floating_point_v<A>) {
    sum += x * y;
  } else {
#if defined(__clang__)
    sum = __builtin_elementwise_fma(x, y, sum);
#else
#if defined(__x86_64__)
    constexpr bool kSingle = sizeof(A) == 4;
    constexpr int kAsSet = 4;  // the rounding mode
    if constexpr (sizeof(Vector) == 64 && kSingle) {
      sum = __builtin_ia32_vfmaddps512_mask(x, y, sum, static_cast<std::uint16_t>(-1), kAsSet);
    } else if constexpr (sizeof(Vector) == 64) {
      sum = __builtin_ia32_vfmaddpd512_mask(x, y, sum, static_cast<std::uint8_t>(-1), kAsSet);
    } else if constexpr (sizeof(Vector) == 32 && kSingle) {
      sum = __builtin_ia32_vfmaddps256(x, y, sum);
    } else if constexpr (sizeof(Vector) == 32) {
      sum = __builtin_ia32_vfmaddpd256(x, y, sum);
    } else
#endif
    {
      for (std::size_t l = 0; l < sizeof(Vector) / sizeof(A); ++l) {
        sum[l] = std::fma(x[l], y[l], sum[l]);
      }
    }
#endif
  }
}

// kBytes of items side by side, wherever they lie. Read and written as one: sums copied as bytes
// would stay in memory, as would those of a loop that is unrolled late (hence the pragmas below).
template <class A, std::size_t kBytes>
struct Vectors {
  using Vector [[gnu::vector_size(kBytes)]] = A;
  using Loose [[gnu::vector_size(kBytes), gnu::aligned(alignof(A)), gnu::may_alias]] = A;
  static constexpr auto kLanes = static_cast<std::int64_t>(kBytes / sizeof(A));
  [[gnu::always_inline]] static const Loose& at(const A* from) {
    return *reinterpret_cast<const Loose*>(from);
  }
  [[gnu::always_inline]] static Loose& at(A* to) { return *reinterpret_cast<Loose*>(to); }
};

// What a tile of the result is summed from: rows of a and rows of b, each of items side by side.
template <class A>
struct Tile {
  const A* a = nullptr;
  std::int64_t lda = 0;
  const A* b = nullptr;
  std::int64_t ldb = 0;
  std::int64_t depth = 0;
  A* c = nullptr;
  std::int64_t ldc = 0;
  bool first = true;  // c holds nothing yet; otherwise the sums so far
};

// kRows x kVectors vectors of the result, each item summed over k in order.
template <class A, std::size_t kBytes, int kRows, int kVectors>
[[gnu::always_inline]] inline void sum_tile(const Tile<A>& tile) {
  using V = Vectors<A, kBytes>;
  using Vector = typename V::Vector;
  const Tile<A> t = tile;
  Vector sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = t.first ? Vector{} : V::at(t.c + r * t.ldc + v * V::kLanes);
    }
  }
  for (std::int64_t k = 0; k < t.depth; ++k) {
    Vector row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) row[v] = V::at(t.b + k * t.ldb + v * V::kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vector x = t.a[r * t.lda + k] - Vector{};  // in every lane
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) add_product<A>(sums[r][v], x, row[v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) V::at(t.c + r * t.ldc + v * V::kLanes) = sums[r][v];
  }
}

// Products of rows with one column, in kDotLanes sums for each row: product k goes to sum k modulo
// their number, whatever the vectors.
inline constexpr std::int64_t kDotLanes = 32;

template <class A>
struct Dots {
  const A* rows = nullptr;
  std::int64_t row_stride = 0;
  const A* column = nullptr;
  std::int64_t depth = 0;
  A* sums = nullptr;
  std::int64_t sums_stride = 0;
};

template <class A, std::size_t kBytes, int kRows>
[[gnu::always_inline]] inline void sum_dots(const Dots<A>& dots) {
  using V = Vectors<A, kBytes>;
  using Vector = typename V::Vector;
  constexpr auto kVectors = static_cast<int>(kDotLanes / V::kLanes);
  const Dots<A> d = dots;
  Vector sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = V::at(d.sums + r * d.sums_stride + v * V::kLanes);
    }
  }
  std::int64_t k = 0;
  for (; k + kDotLanes <= d.depth; k += kDotLanes) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const Vector y = V::at(d.column + k + v * V::kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Vector x = V::at(d.rows + r * d.row_stride + k + v * V::kLanes);
        add_product<A>(sums[r][v], x, y);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    A* to = d.sums + r * d.sums_stride;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) V::at(to + v * V::kLanes) = sums[r][v];
    for (std::int64_t l = 0; k + l < d.depth; ++l) {
      const A x = d.rows[r * d.row_stride + k + l];
      const A y = d.column[k + l];
      if constexpr (std::is_floating_point_v<A>) {
        to[l] = std::fma(x, y, to[l]);
      } else {
        to[l] += x * y;
      }
    }
  }
}

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// ---- Instruction sets: tiles of as many sums as there are registers for
// ------------------------------------------------------------------------------------------------

struct BaselineTiles {
  static constexpr std::size_t kBytes = 16;
  static constexpr int kRows = 4;
  static constexpr int kVectors = 2;
  template <class A, int kRows, int kVectors>
  static void tile(const Tile<A>& t) {
    sum_tile<A, kBytes, kRows, kVectors>(t);
  }
  template <class A, int kRows>
  static void dots(const Dots<A>& d) {
    sum_dots<A, kBytes, kRows>(d);
  }
};

#if defined(__x86_64__)
struct Avx2Tiles {
  static constexpr std::size_t kBytes = 32;
  static constexpr int kRows = 4;
  static constexpr int kVectors = 3;
  template <class A, int kRows, int kVectors>
  [[gnu::target("avx2,fma")]] static void tile(const Tile<A>& t) {
    sum_tile<A, kBytes, kRows, kVectors>(t);
  }
  template <class A, int kRows>
  [[gnu::target("avx2,fma")]] static void dots(const Dots<A>& d) {
    sum_dots<A, kBytes, kRows>(d);
  }
};

struct Avx512Tiles {
  static constexpr std::size_t kBytes = 64;
  static constexpr int kRows = 8;
  static constexpr int kVectors = 3;
  template <class A, int kRows, int kVectors>
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]] static void tile(const Tile<A>& t) {
    sum_tile<A, kBytes, kRows, kVectors>(t);
  }
  template <class A, int kRows>
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]] static void dots(const Dots<A>& d) {
    sum_dots<A, kBytes, kRows>(d);
  }
};
#endif

}  // namespace spillway::graph
