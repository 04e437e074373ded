#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "spillway/base/interrupt.h"
#include "spillway/graph/gemm_pack.h"

// How a thread computes a rectangle of a product, from what was decided for the whole.
namespace spillway::graph {

inline constexpr std::int64_t kDotRows = 64;  // whose sums are kept at a time
// Products between looks whether the work was abandoned: a few milliseconds where they are slow.
inline constexpr std::int64_t kLookedAt = std::int64_t{1} << 22;

constexpr std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

// Tiles of 1, 2, 4, ... rows and 1, 2, ... vectors.
template <class Level, class A>
constexpr auto all_tiles() {
  constexpr auto kSizes = std::bit_width(static_cast<unsigned>(Level::kRows));
  std::array<std::array<void (*)(const Tile<A>&), Level::kVectors>, kSizes> all{};
  const auto fill = [&]<int kLog, int... V>(std::integer_sequence<int, V...>) {
    ((all[kLog][V] = Level::template tile<A, 1 << kLog, V + 1>), ...);
  };
  [&]<int... L>(std::integer_sequence<int, L...>) {
    (fill.template operator()<L>(std::make_integer_sequence<int, Level::kVectors>()), ...);
  }(std::make_integer_sequence<int, kSizes>());
  return all;
}

// Some rows of a, a stretch of k, each of items side by side.
template <class A>
struct Strip {
  const A* items;
  std::int64_t stride;  // from row to row
};

// The rows of a matrix: where they lie, or a copy in `room`.
template <class T>
struct MatrixRows {
  const T* a;
  Layout layout;
  bool in_place;

  [[gnu::always_inline]] Strip<Summed<T>> at(std::int64_t i, std::int64_t k, std::int64_t rows,
                                             std::int64_t depth, Summed<T>* room) const {
    const T* from = a + i * layout.row + k * layout.column;
    if (in_place) return {reinterpret_cast<const Summed<T>*>(from), layout.row};
    pack_a(from, layout, rows, depth, room);
    return {room, depth};
  }
};

// Sums over k in order, a block of it at a time; the sums so far wait in c, or in scratch. Rows
// gives the rows of a: a matrix's, or those of one that is never made.
template <class Level, class T, class Rows>
struct Blocked {
  using A = Summed<T>;
  static constexpr auto kTiles = all_tiles<Level, A>();
  static constexpr auto kLanes = static_cast<std::int64_t>(Level::kBytes / sizeof(A));
  static constexpr std::int64_t kWidth = kLanes * Level::kVectors;

  const GemmTask<T>& t;
  const Rows& rows_of_a;
  const Product& p = t.product;
  const GemmBlocks& s = t.blocks;
  const std::int64_t sums_width = round_up(s.columns, kLanes);
  A* const panels = reinterpret_cast<A*>(t.scratch);
  A* const strip = panels + s.depth * (s.b_in_place ? kWidth : sums_width);
  A* const sums = strip + Level::kRows * s.depth;

  // Whether n columns of b are whole vectors where they lie; if not, where their copy is.
  [[gnu::always_inline]] bool reads_in_place(std::int64_t n) const {
    return s.b_in_place && n % kLanes == 0;
  }
  [[gnu::always_inline]] A* panel(std::int64_t q, std::int64_t depth) const {
    return s.b_in_place ? panels : panels + q * depth;  // in place, only the last one is packed
  }

  [[gnu::always_inline]] void pack_panels(const T* b, std::int64_t columns,
                                          std::int64_t depth) const {
    for (std::int64_t q = 0; q < columns; q += kWidth) {
      const std::int64_t n = std::min(kWidth, columns - q);
      if (reads_in_place(n)) continue;
      const T* from = b + q * p.b.column;
      if (n == kWidth) {  // a known size makes the better loop
        pack_b(from, p.b, depth, kWidth, kWidth, panel(q, depth));
      } else {
        pack_b(from, p.b, depth, n, round_up(n, kLanes), panel(q, depth));
      }
    }
  }

  // A tile that ends inside a vector, in a c that does not: by way of a copy.
  [[gnu::always_inline]] static void run_edge(void (*run)(const Tile<A>&), Tile<A> tile, int rows,
                                              std::int64_t n) {
    A copy[Level::kRows * kWidth];
    A* const c = std::exchange(tile.c, copy);
    const std::int64_t ldc = std::exchange(tile.ldc, kWidth);
    for (int r = 0; r < rows && !tile.first; ++r) std::copy_n(c + r * ldc, n, copy + r * kWidth);
    run(tile);
    for (int r = 0; r < rows; ++r) std::copy_n(copy + r * kWidth, n, c + r * ldc);
  }

  // All tiles of some rows: a tile's rows of a stay in L1, b comes from L2.
  [[gnu::always_inline]] void run_rows(Tile<A> tile, const T* b, std::int64_t columns,
                                       int rows) const {
    A* const c = tile.c;
    const auto& by_vectors =
        kTiles[static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(rows)) - 1)];
    for (std::int64_t q = 0; q < columns; q += kWidth) {
      const std::int64_t n = std::min(kWidth, columns - q);
      const std::int64_t vectors = (n + kLanes - 1) / kLanes;
      const auto run = by_vectors[static_cast<std::size_t>(vectors - 1)];
      const bool in_place = reads_in_place(n);
      tile.b = in_place ? reinterpret_cast<const A*>(b) + q : panel(q, tile.depth);
      tile.ldb = in_place ? p.b.row : vectors * kLanes;
      tile.c = c + q;
      if (n % kLanes == 0 || !s.c_in_place) {
        run(tile);
      } else {
        run_edge(run, tile, rows, n);
      }
    }
  }

  [[gnu::always_inline]] void run_block(std::int64_t i, std::int64_t rows, std::int64_t j,
                                        std::int64_t columns, Tile<A> tile) const {
    A* const c = tile.c;
    for (std::int64_t k = 0; k == 0 || k < p.k; k += s.depth) {
      if (k > 0 && abandoned()) return;
      tile.first = k == 0 && !t.more;
      tile.depth = std::min(s.depth, p.k - k);
      const T* b = t.b + k * p.b.row + j * p.b.column;
      pack_panels(b, columns, tile.depth);
      int some = 0;
      Looks looks(kLookedAt);
      for (std::int64_t r = 0; r < rows; r += some) {
        if (looks.abandoned(Level::kRows * columns * tile.depth)) return;
        some = static_cast<int>(std::min<std::uint64_t>(
            Level::kRows, std::bit_floor(static_cast<std::uint64_t>(rows - r))));
        const Strip<A> a = rows_of_a.at(i + r, k, some, tile.depth, strip);
        tile.a = a.items;
        tile.lda = a.stride;
        tile.c = c + r * tile.ldc;
        run_rows(tile, b, columns, some);
      }
    }
  }

  [[gnu::always_inline]] void run() const {
    for (std::int64_t j = 0; j < t.n; j += s.columns) {
      const std::int64_t columns = std::min(s.columns, t.n - j);
      for (std::int64_t i = 0; i < t.m; i += s.rows) {
        if (i + j > 0 && abandoned()) return;  // not in one that is a single block
        const std::int64_t rows = std::min(s.rows, t.m - i);
        T* to = t.c + i * p.c.row + j * p.c.column;
        Tile<A> tile;
        tile.c = s.c_in_place ? reinterpret_cast<A*>(to) : sums;
        tile.ldc = s.c_in_place ? p.c.row : sums_width;
        run_block(i, rows, j, columns, tile);
        for (std::int64_t r = 0; r < rows && !s.c_in_place; ++r) {
          for (std::int64_t q = 0; q < columns; ++q) {
            to[r * p.c.row + q * p.c.column] = static_cast<T>(sums[r * sums_width + q]);
          }
        }
      }
    }
  }
};

// For few columns and rows that are runs: products of rows and columns.
template <class Level, class T>
[[gnu::always_inline]] inline void run_dots(const GemmTask<T>& t) {
  using A = Summed<T>;
  const Product& p = t.product;
  A* const sums = reinterpret_cast<A*>(t.scratch);
  A* const copy = sums + kDotRows * t.n * kDotLanes;
  const bool in_place = p.b.row == 1;
  const std::int64_t block = t.blocks.depth;
  Dots<A> d;
  d.row_stride = p.a.row;
  d.sums_stride = t.n * kDotLanes;
  Looks looks(kLookedAt);
  for (std::int64_t i = 0; i < t.m; i += kDotRows) {
    if (i > 0 && abandoned()) return;
    const std::int64_t rows = std::min(kDotRows, t.m - i);
    std::fill_n(sums, rows * t.n * kDotLanes, A(0));
    for (std::int64_t k = 0; k < p.k; k += block) {
      d.depth = std::min(block, p.k - k);
      if (!in_place && (i == 0 || block < p.k)) {
        turn(t.b + k * p.b.row, p.b.row, d.depth, t.n, copy, block);
      }
      for (std::int64_t r = 0; r < rows;) {
        if (looks.abandoned(4 * t.n * d.depth)) return;
        const bool four = rows - r >= 4;
        d.rows = reinterpret_cast<const A*>(t.a + (i + r) * p.a.row + k);
        for (std::int64_t j = 0; j < t.n; ++j) {
          d.column =
              in_place ? reinterpret_cast<const A*>(t.b + j * p.b.column + k) : copy + j * block;
          d.sums = sums + (r * t.n + j) * kDotLanes;
          if (four) {
            Level::template dots<A, 4>(d);
          } else {
            Level::template dots<A, 1>(d);
          }
        }
        r += four ? 4 : 1;
      }
    }
    for (std::int64_t x = 0; x < rows * t.n; ++x) {
      A* sum = sums + x * kDotLanes;
      for (std::int64_t width = kDotLanes / 2; width > 0; width /= 2) {
        for (std::int64_t l = 0; l < width; ++l) sum[l] += sum[l + width];
      }
      t.c[(i + x / t.n) * p.c.row + x % t.n * p.c.column] = static_cast<T>(sum[0]);
    }
  }
}

}  // namespace spillway::graph
