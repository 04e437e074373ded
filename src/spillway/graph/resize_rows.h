#pragma once

#include <cstring>

#include "spillway/graph/number.h"
#include "spillway/graph/resize.h"
#include "spillway/graph/simd.h"

// The loops of resizing, each over one row. A row that is read across has room for
// `kPastRow` more floats: pixels of two to four channels are handled as four.
namespace spillway::graph {

inline constexpr std::int64_t kPastRow = 4;

// How the channels of a pixel are gone through.
enum class Channels : std::uint8_t { kOne, kFew, kMany };
inline Channels kind_of(std::int64_t channels) {
  return channels == 1 ? Channels::kOne : channels <= 4 ? Channels::kFew : Channels::kMany;
}

// The data of a loop across: in[0] is the image's row, n the number of pixels made. Taps in items.
struct AcrossData {
  const Taps* taps;
  std::int64_t channels;
  float start;
};
// The data of a loop down: in[i] is the row of tap i, n the number of items.
struct DownData {
  std::span<const Tap> taps;
  float start;
  float scale;
};

struct ToFloat {
  template <class T>
  [[gnu::always_inline]] static float of(T x) {
    return static_cast<float>(x);
  }
};

typedef float Four __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
[[gnu::always_inline]] inline Four four_at(const float* items) {
  Four value;
  std::memcpy(&value, items, sizeof(value));
  return value;
}

struct SumOfTaps {
  template <class V, class Load>
  [[gnu::always_inline]] static V of(std::span<const Tap> taps, V start, Load load) {
    V sum = start;
    for (const Tap& tap : taps) sum += tap.weight * load(tap.at);
    return sum;
  }
};
struct LerpOfTaps {
  template <class V, class Load>
  [[gnu::always_inline]] static V of(std::span<const Tap> taps, V /*start*/, Load load) {
    const V low = load(taps[0].at);
    return low + (load(taps[1].at) - low) * taps[1].weight;
  }
};

template <class Blending, Channels kind>
struct AcrossBody {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto& across = *static_cast<const AcrossData*>(args.data);
    const auto* __restrict row = reinterpret_cast<const float*>(args.in[0]);
    auto* __restrict out = reinterpret_cast<float*>(args.out);
    const std::int64_t channels = across.channels;
    const auto one = [&](std::int64_t at) __attribute__((always_inline)) { return row[at]; };
    const auto four = [&](std::int64_t at)
                          __attribute__((always_inline)) { return four_at(row + at); };
    const float start = across.start;
    const Four starts = {start, start, start, start};
    for (std::int64_t x = 0; x < args.n; ++x, out += channels) {
      const std::span<const Tap> taps = across.taps->of(x);
      if constexpr (kind == Channels::kOne) {
        *out = Blending::of(taps, start, one);
      } else if constexpr (kind == Channels::kFew) {
        const Four pixel = Blending::of(taps, starts, four);
        // Only the last pixel would write past the row; others are followed by their neighbour.
        const std::size_t bytes = x + 1 < args.n ? sizeof(Four) : 0;
        if (bytes != 0) {
          std::memcpy(out, &pixel, sizeof(pixel));
        } else {
          std::memcpy(out, &pixel, static_cast<std::size_t>(channels) * sizeof(float));
        }
      } else {
        for (std::int64_t c = 0; c < channels; ++c) {
          out[c] = Blending::of(taps, start, [&](std::int64_t at) __attribute__((always_inline)) {
            return row[at + c];
          });
        }
      }
    }
    return -1;
  }
};

// Sums of rows of T. A block of sums stays in registers while all taps are added.
template <class T>
struct SumDownBody {
  static constexpr std::int64_t kBlock = 64;
  template <std::int64_t kItems>
  [[gnu::always_inline]] static void block(const LoopArgs& args, const DownData& down,
                                           std::int64_t first) {
    float sums[kItems];
    for (float& sum : sums) sum = down.start;
    for (std::size_t t = 0; t < down.taps.size(); ++t) {
      const auto* __restrict row = reinterpret_cast<const T*>(args.in[t]) + first;
      const float weight = down.taps[t].weight;
      for (std::int64_t i = 0; i < kItems; ++i) sums[i] += weight * static_cast<float>(row[i]);
    }
    auto* __restrict out = reinterpret_cast<float*>(args.out) + first;
    for (std::int64_t i = 0; i < kItems; ++i) out[i] = sums[i] * down.scale;
  }
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto& down = *static_cast<const DownData*>(args.data);
    std::int64_t i = 0;
    for (; i + kBlock <= args.n; i += kBlock) block<kBlock>(args, down, i);
    for (; i < args.n; ++i) block<1>(args, down, i);
    return -1;
  }
};

struct LerpDownBody {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const float by = static_cast<const DownData*>(args.data)->taps[1].weight;
    const auto* __restrict low = reinterpret_cast<const float*>(args.in[0]);
    const auto* __restrict high = reinterpret_cast<const float*>(args.in[1]);
    auto* __restrict out = reinterpret_cast<float*>(args.out);
    for (std::int64_t i = 0; i < args.n; ++i) out[i] = low[i] + (high[i] - low[i]) * by;
    return -1;
  }
};

}  // namespace spillway::graph
