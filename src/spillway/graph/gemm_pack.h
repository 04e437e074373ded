#pragma once

#include <algorithm>

#include "spillway/graph/gemm.h"
#include "spillway/graph/gemm_tile.h"

// Copies of parts of matrices, laid out in the order their product reads them.
namespace spillway::graph {

template <class T>
[[gnu::always_inline]] inline Summed<T> load(const T& from) {
  return static_cast<Summed<T>>(widen(from));
}

// A square of items, transposed in registers: to(j, i) = from(i, j), rows ldt and ldf apart.
template <class A>
[[gnu::always_inline]] inline void turn_square(const A* from, std::int64_t ldf, A* to,
                                               std::int64_t ldt) {
  using V = Vectors<A, 16>;
  using Vector = typename V::Vector;
  const Vector a = V::at(from);
  const Vector b = V::at(from + ldf);
  if constexpr (V::kLanes == 2) {
    V::at(to) = __builtin_shufflevector(a, b, 0, 2);
    V::at(to + ldt) = __builtin_shufflevector(a, b, 1, 3);
  } else {
    const Vector c = V::at(from + 2 * ldf);
    const Vector d = V::at(from + 3 * ldf);
    const Vector ab_front = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Vector ab_back = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Vector cd_front = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Vector cd_back = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    V::at(to) = __builtin_shufflevector(ab_front, cd_front, 0, 1, 4, 5);
    V::at(to + ldt) = __builtin_shufflevector(ab_front, cd_front, 2, 3, 6, 7);
    V::at(to + 2 * ldt) = __builtin_shufflevector(ab_back, cd_back, 0, 1, 4, 5);
    V::at(to + 3 * ldt) = __builtin_shufflevector(ab_back, cd_back, 2, 3, 6, 7);
  }
}

// The same for any size.
template <class T>
[[gnu::always_inline]] inline void turn(const T* from, std::int64_t ldf, std::int64_t rows,
                                        std::int64_t columns, Summed<T>* to, std::int64_t ldt) {
  using A = Summed<T>;
  std::int64_t i = 0;
  if constexpr (sizeof(T) == sizeof(A)) {
    constexpr std::int64_t kSquare = Vectors<A, 16>::kLanes;
    const std::int64_t squares = columns / kSquare * kSquare;
    for (; i + kSquare <= rows; i += kSquare) {
      for (std::int64_t j = 0; j < squares; j += kSquare) {
        const T* square = from + i * ldf + j;
        turn_square(reinterpret_cast<const A*>(square), ldf, to + j * ldt + i, ldt);
      }
      for (std::int64_t r = i; r < i + kSquare; ++r) {
        for (std::int64_t j = squares; j < columns; ++j) to[j * ldt + r] = load(from[r * ldf + j]);
      }
    }
  }
  for (; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) to[j * ldt + i] = load(from[i * ldf + j]);
  }
}

// depth rows of b, `columns` items of each, as rows of `width`; zeros behind them.
template <class T>
[[gnu::always_inline]] inline void pack_b(const T* b, Layout from, std::int64_t depth,
                                          std::int64_t columns, std::int64_t width, Summed<T>* to) {
  if (from.column == 1) {
    for (std::int64_t k = 0; k < depth; ++k, b += from.row, to += width) {
      for (std::int64_t j = 0; j < columns; ++j) to[j] = load(b[j]);
      std::fill(to + columns, to + width, Summed<T>(0));
    }
    return;
  }
  // Columns are runs: some rows at a time, so that what is written stays in L1.
  constexpr std::int64_t kRun = 16;
  for (std::int64_t k = 0; k < depth; k += kRun) {
    const std::int64_t n = std::min(kRun, depth - k);
    turn(b + k, from.column, columns, n, to, width);
    for (std::int64_t r = 0; r < n; ++r, to += width) {
      std::fill(to + columns, to + width, Summed<T>(0));
    }
  }
}

// `rows` rows of a, depth items of each, one behind the other.
template <class T>
[[gnu::always_inline]] inline void pack_a(const T* a, Layout from, std::int64_t rows,
                                          std::int64_t depth, Summed<T>* to) {
  if (from.column != 1) return turn(a, from.column, depth, rows, to, depth);
  for (std::int64_t r = 0; r < rows; ++r, a += from.row, to += depth) {
    for (std::int64_t k = 0; k < depth; ++k) to[k] = load(a[k]);
  }
}

}  // namespace spillway::graph
