#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "spillway/graph/number.h"
#include "spillway/graph/simd.h"

// Random numbers a block at a time, in TensorFlow's order: item i of a row comes from Philox block
// i / 4 (i / 2 for 64-bit numbers), so that any part can be computed alone. Written so that the
// compiler vectorises across blocks.
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): places within one block
namespace spillway::graph {

// What a source draws from.
struct RandomSource {
  std::uint64_t seed = 0;   // the key
  std::uint64_t seed2 = 0;  // the upper half of the counter
  std::uint64_t skip = 0;   // blocks before the first
  std::int64_t row_items = 1;
  bool per_row = false;  // every row and epoch draws numbers of its own
  // Items before the first for each of Call::first_row: what is drawn are rows of a larger tensor.
  std::int64_t call_items = 0;
  // Integers: low + bits % range; a range of 0 is all of them.
  std::int64_t low = 0;
  std::uint64_t range = 0;
};

inline constexpr int kRandomBlocks = 256;

// Counters on the way in, their numbers on the way out: word w of block b at [w][b].
struct alignas(64) RandomWords {
  std::uint32_t words[4][kRandomBlocks];
};

// Philox 4x32-10 of the first n counters, n a multiple of 16. The machine's best instructions are
// taken; all give the same.
void philox(RandomWords& block, std::uint64_t key, int n);

// ---- Numbers from bits
// ---------------------------------------------------------------------------

// In [0, 1), from the low bits, as TensorFlow takes them.
[[gnu::always_inline]] inline float unit_float(std::uint32_t bits) {
  return std::bit_cast<float>((bits & 0x7FFFFFU) | 0x3F800000U) - 1.0F;
}
[[gnu::always_inline]] inline double unit_double(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high & 0xFFFFFU} << 32U) | low;
  return std::bit_cast<double>(bits | 0x3FF0000000000000U) - 1.0;
}
[[gnu::always_inline]] inline float angle(std::uint32_t bits) {
  return static_cast<float>(2.0 * std::numbers::pi * static_cast<double>(unit_float(bits)));
}

// Box-Muller with the C library's functions: TensorFlow's own numbers, bit for bit.
struct ExactNormal {
  [[gnu::always_inline]] static void pair(std::uint32_t x, std::uint32_t y, float& a, float& b) {
    const float radius = std::sqrt(-2.0F * std::log(std::max(unit_float(x), 1.0e-7F)));
    const float turn = angle(y);
    a = std::sin(turn) * radius;
    b = std::cos(turn) * radius;
  }
};

// Box-Muller with polynomials that vectorise; within 4 units in the last place of the above.
struct FastNormal {
  // Of 1e-7 <= x < 1. Fitted (Chebyshev nodes, reweighted towards minimax): log(1 + f) = f - f*f/2
  // + f*f*f*p(f) for 1 + f in [sqrt(1/2), sqrt(2)), to 7e-10 of f.
  [[gnu::always_inline]] static float log(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t up = bits + (0x3F800000U - 0x3F3504F3U);
    const auto exponent = static_cast<float>(static_cast<std::int32_t>(up >> 23U) - 127);
    const float f = std::bit_cast<float>((up & 0x7FFFFFU) + 0x3F3504F3U) - 1.0F;
    float p = 6.915367972e-02F;
    p = p * f - 1.178980764e-01F;
    p = p * f + 1.187297631e-01F;
    p = p * f - 1.238434848e-01F;
    p = p * f + 1.421865809e-01F;
    p = p * f - 1.666925082e-01F;
    p = p * f + 2.000222661e-01F;
    p = p * f - 2.499998660e-01F;
    p = p * f + 3.333331044e-01F;
    const float square = f * f;
    // log(2) in two parts, the first exact for every exponent.
    const float low = p * f * square + exponent * -2.12194440e-4F - 0.5F * square;
    return exponent * 0.693359375F + (f + low);
  }
  // Of 0 <= x < 7.
  [[gnu::always_inline]] static void sincos(float x, float& sine, float& cosine) {
    const auto quarter = static_cast<std::int32_t>(
        x * 0.636619772F + 0.5F);  // NOLINT(bugprone-incorrect-roundings): x is not negative
    const auto q = static_cast<float>(quarter);
    // pi/2 in three parts; products with 0..4 are exact but for the last.
    const float r =
        ((x - q * 1.5703125F) - q * 4.837512969970703125e-4F) - q * 7.54978995489188e-8F;
    const float z = r * r;
    float s = 2.718311574e-06F;
    s = s * z - 1.983933484e-04F;
    s = s * z + 8.333329386e-03F;
    s = s * z - 1.666666664e-01F;
    s = s * z * r + r;
    float c = 2.443844968e-05F;
    c = c * z - 1.388736750e-03F;
    c = c * z + 4.166664687e-02F;
    c = c * z * z - 0.5F * z + 1.0F;
    // In odd quarters the two change places; by masks, since a branch would not vectorise.
    const auto turn = static_cast<std::uint32_t>(quarter);
    const std::uint32_t mask = 0U - (turn & 1U);
    const auto s_bits = std::bit_cast<std::uint32_t>(s);
    const auto c_bits = std::bit_cast<std::uint32_t>(c);
    const std::uint32_t both = (s_bits ^ c_bits) & mask;
    sine = std::bit_cast<float>(s_bits ^ both ^ (turn & 2U) << 30U);
    cosine = std::bit_cast<float>(c_bits ^ both ^ ((turn + 1U) & 2U) << 30U);
  }
  [[gnu::always_inline]] static void pair(std::uint32_t x, std::uint32_t y, float& a, float& b) {
    // Floats that are not negative compare as their bits do.
    const auto bits = std::max(std::bit_cast<std::uint32_t>(unit_float(x)), 0x33D6BF95U);  // 1e-7
    const float radius = std::sqrt(-2.0F * log(std::bit_cast<float>(bits)));
    float sine = 0;
    float cosine = 0;
    sincos(angle(y), sine, cosine);
    a = sine * radius;
    b = cosine * radius;
  }
};

// The same for doubles, by the C library either way.
[[gnu::always_inline]] inline void normal_pair(const RandomWords& in, int i, double& a, double& b) {
  const auto& w = in.words;
  const double radius = std::sqrt(-2.0 * std::log(std::max(unit_double(w[0][i], w[1][i]), 1.0e-7)));
  const double turn = 2.0 * std::numbers::pi * unit_double(w[2][i], w[3][i]);
  a = std::sin(turn) * radius;
  b = std::cos(turn) * radius;
}

// ---- Distributions
// ------------------------------------------------------------------------------- kItems numbers
// come from one block; those after them kStride blocks further on. fill() turns the words of n
// blocks into items, one block's beside each other; `counters` says where the blocks were, for
// those that need more than one.

template <class T>
struct UniformOf {
  using Item = T;
  static constexpr int kItems = sizeof(T) == 8 ? 2 : 4;
  static constexpr int kStride = 1;
  [[gnu::always_inline]] static T of(std::uint32_t bits) {
    if constexpr (std::is_same_v<T, float>) return unit_float(bits);
    if constexpr (std::is_same_v<T, Half>) {
      Half one;
      one.bits = static_cast<std::uint16_t>((bits & 0x3FFU) | 0x3C00U);
      return Half(static_cast<float>(one) - 1.0F);
    }
    if constexpr (std::is_same_v<T, BFloat16>) {
      BFloat16 one;
      one.bits = static_cast<std::uint16_t>((bits & 0x7FU) | 0x3F80U);
      return BFloat16(static_cast<float>(one) - 1.0F);
    }
  }
  [[gnu::always_inline]] static void fill(const RandomWords& in, int n, T* __restrict out,
                                          const RandomWords&, const RandomSource&) {
    for (int i = 0; i < n; ++i) {
      if constexpr (kItems == 2) {
        out[2 * i] = unit_double(in.words[0][i], in.words[1][i]);
        out[2 * i + 1] = unit_double(in.words[2][i], in.words[3][i]);
      } else {
        for (int w = 0; w < 4; ++w) out[4 * i + w] = of(in.words[w][i]);
      }
    }
  }
};

// Normals of n blocks, n a multiple of 16, word by word.
template <class Math>
[[gnu::always_inline]] inline void normal_words(const RandomWords& in, int n,
                                                float (&out)[4][kRandomBlocks]) {
  for (int w = 0; w < 4; w += 2) {
    const auto* __restrict x = in.words[w];
    const auto* __restrict y = in.words[w + 1];
    float* __restrict a = out[w];
    float* __restrict b = out[w + 1];
    for (int i = 0; i < n; ++i) Math::pair(x[i], y[i], a[i], b[i]);
  }
}

template <class Math, class T>
struct NormalOf {
  using Item = T;
  static constexpr int kItems = sizeof(T) == 8 ? 2 : 4;
  static constexpr int kStride = 1;
  [[gnu::always_inline]] static void fill(const RandomWords& in, int n, T* __restrict out,
                                          const RandomWords&, const RandomSource&) {
    if constexpr (kItems == 2) {
      for (int i = 0; i < n; ++i) normal_pair(in, i, out[2 * i], out[2 * i + 1]);
    } else {
      alignas(64) float words[4][kRandomBlocks];
      normal_words<Math>(in, n, words);
      for (int i = 0; i < n; ++i) {
        for (int w = 0; w < 4; ++w) out[4 * i + w] = static_cast<T>(words[w][i]);
      }
    }
  }
};

// What lies beyond two is drawn again, from the blocks up to the next counter.
template <class Math, class T>
struct TruncatedNormalOf {
  using Item = T;
  using Wide = graph::Wide<T>;
  static constexpr int kItems = sizeof(T) == 8 ? 2 : 4;
  static constexpr int kStride = kItems * 64;  // TensorFlow sets 256 words aside for an item

  [[gnu::always_inline]] static void fill(const RandomWords& in, int n, T* __restrict out,
                                          const RandomWords& counters, const RandomSource& source) {
    alignas(64) float words[4][kRandomBlocks];
    if constexpr (kItems == 4) normal_words<Math>(in, n, words);
    for (int i = 0; i < n; ++i) {
      Wide drawn[kItems];
      if constexpr (kItems == 2)
        normal_pair(in, i, drawn[0], drawn[1]);
      else
        for (int w = 0; w < 4; ++w) drawn[w] = words[w][i];
      bool all = true;
      for (int w = 0; w < kItems; ++w) {
        all = all && std::abs(drawn[w]) < 2;
        out[kItems * i + w] = static_cast<T>(drawn[w]);
      }
      if (!all) again(counters, i, source.seed, drawn, out + kItems * i);
    }
  }

 private:
  [[gnu::noinline]] static void again(const RandomWords& counters, int i, std::uint64_t key,
                                      const Wide* first, T* out) {
    Wide drawn[kItems];
    std::copy(first, first + kItems, drawn);
    std::uint64_t low = counters.words[0][i] | std::uint64_t{counters.words[1][i]} << 32U;
    for (int have = 0; true; next(counters, i, ++low, key, drawn)) {
      for (int w = 0; w < kItems; ++w) {
        if (std::abs(drawn[w]) >= 2) continue;
        out[have++] = static_cast<T>(drawn[w]);
        if (have == kItems) return;
      }
    }
  }
  static void next(const RandomWords& counters, int i, std::uint64_t low, std::uint64_t key,
                   Wide* drawn) {
    RandomWords one{};
    one.words[0][0] = static_cast<std::uint32_t>(low);
    one.words[1][0] = static_cast<std::uint32_t>(low >> 32U);
    one.words[2][0] = counters.words[2][i];
    one.words[3][0] = counters.words[3][i];
    philox(one, key, 16);
    if constexpr (kItems == 2) {
      normal_pair(one, 0, drawn[0], drawn[1]);
    } else {
      Math::pair(one.words[0][0], one.words[1][0], drawn[0], drawn[1]);
      Math::pair(one.words[2][0], one.words[3][0], drawn[2], drawn[3]);
    }
  }
};

template <class T>
struct UniformIntegerOf {
  using Item = T;
  static constexpr int kItems = sizeof(T) == 8 ? 2 : 4;
  static constexpr int kStride = 1;
  using Bits = std::make_unsigned_t<T>;
  [[gnu::always_inline]] static void fill(const RandomWords& in, int n, T* __restrict out,
                                          const RandomWords&, const RandomSource& source) {
    for (int i = 0; i < n; ++i) {
      for (int w = 0; w < kItems; ++w) {
        if constexpr (kItems == 2) {
          out[2 * i + w] =
              static_cast<T>(in.words[2 * w][i] | std::uint64_t{in.words[2 * w + 1][i]} << 32U);
        } else {
          out[4 * i + w] = static_cast<T>(in.words[w][i]);
        }
      }
    }
    if (source.range == 0) return;
    const auto range = static_cast<Bits>(source.range);
    const auto low = static_cast<Bits>(source.low);
    for (int i = 0; i < n * kItems; ++i) {
      out[i] = static_cast<T>(low + static_cast<Bits>(out[i]) % range);
    }
  }
};

// ---- Rows
// ----------------------------------------------------------------------------------------

// A bijection that leaves no pattern.
[[gnu::always_inline]] inline std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}
// The upper half of a row's counters. Distinct for the rows of one epoch.
[[gnu::always_inline]] inline std::uint64_t row_stream(const RandomSource& source, const Call& call,
                                                       std::int64_t row) {
  if (!source.per_row) return source.seed2;
  const std::uint64_t epoch = scrambled(static_cast<std::uint64_t>(call.epoch) + 1);
  const std::uint64_t line = scrambled(source.seed2 + epoch);
  const auto at = static_cast<std::uint64_t>(call.first_row + row);
  return scrambled(line + at * 0x9E3779B97F4A7C15U);
}

template <class Distribution>
struct RandomBody {
  using T = typename Distribution::Item;

  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    static constexpr std::int64_t kItems = Distribution::kItems;
    const auto& source = *static_cast<const RandomSource*>(args.data);
    auto* out = reinterpret_cast<T*>(args.out);
    RandomWords block;
    alignas(64) T items[kRandomBlocks * kItems];
    const std::int64_t row_items = std::max<std::int64_t>(1, source.row_items);
    const std::int64_t first = args.first + args.call->first_row * source.call_items;
    std::int64_t row = first / row_items;
    std::int64_t at = first % row_items;
    for (std::int64_t done = 0; done < args.n;) {
      // As many runs of rows as fit into one set of blocks.
      struct Piece {
        std::int64_t from;
        std::int64_t n;
      };
      Piece pieces[kRandomBlocks];
      int piece = 0;
      int used = 0;
      std::int64_t ahead = done;
      while (ahead < args.n && used < kRandomBlocks) {
        const std::int64_t room = (kRandomBlocks - used) * kItems - at % kItems;
        const std::int64_t n = std::min({args.n - ahead, row_items - at, room});
        const std::int64_t group = at / kItems;
        const auto groups = static_cast<int>((at + n - 1) / kItems - group) + 1;
        count(block, used, groups,
              source.skip + static_cast<std::uint64_t>(group) * Distribution::kStride,
              row_stream(source, *args.call, row));
        pieces[piece++] = {used * kItems + at % kItems, n};
        used += groups;
        ahead += n;
        at += n;
        if (at == row_items) {
          at = 0;
          ++row;
        }
      }
      const int padded = (used + 15) / 16 * 16;
      for (auto& words : block.words) std::fill(words + used, words + padded, 0U);
      RandomWords counters;
      if constexpr (Distribution::kStride != 1) counters = block;
      philox(block, source.seed, padded);
      Distribution::fill(block, padded, items, counters, source);
      for (int p = 0; p < piece; ++p) {
        std::memcpy(out + done, items + pieces[p].from,
                    static_cast<std::size_t>(pieces[p].n) * sizeof(T));
        done += pieces[p].n;
      }
    }
    return -1;
  }

  // Counters of `n` blocks, from `used` on.
  [[gnu::always_inline]] static void count(RandomWords& block, int used, int n, std::uint64_t first,
                                           std::uint64_t upper) {
    for (int i = 0; i < n; ++i) {
      const std::uint64_t counter = first + static_cast<std::uint64_t>(i) * Distribution::kStride;
      block.words[0][used + i] = static_cast<std::uint32_t>(counter);
      block.words[1][used + i] = static_cast<std::uint32_t>(counter >> 32U);
      block.words[2][used + i] = static_cast<std::uint32_t>(upper);
      block.words[3][used + i] = static_cast<std::uint32_t>(upper >> 32U);
    }
  }
};

}  // namespace spillway::graph
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
