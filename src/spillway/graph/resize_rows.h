#pragma once

#include <algorithm>
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

// One value from the taps of a place, which they walk over; `load(at)` is the value at a place.
struct SumOfTaps {
  template <class V, class Load>
  [[gnu::always_inline]] static V of(const Tap*& tap, const Tap* end, V start, Load load) {
    V sum = start;
    for (; tap != end; ++tap) sum += tap->weight * load(tap->at);
    return sum;
  }
};
struct LerpOfTaps {
  template <class V, class Load>
  [[gnu::always_inline]] static V of(const Tap*& tap, const Tap* /*end*/, V /*start*/, Load load) {
    const V low = load(tap[0].at);
    const V made = low + (load(tap[1].at) - low) * tap[1].weight;
    tap += 2;
    return made;
  }
};

template <class Blending, Channels kind>
struct AcrossBody {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto& across = *static_cast<const AcrossData*>(args.data);
    const auto* __restrict row = reinterpret_cast<const float*>(args.in[0]);
    auto* __restrict out = reinterpret_cast<float*>(args.out);
    const std::int64_t n = args.n;
    const std::int64_t channels = across.channels;
    const float start = across.start;
    const std::int64_t* ends = across.taps->ends();
    const Tap* const taps = across.taps->all();
    const Tap* tap = taps;
    if constexpr (kind == Channels::kOne) {
      for (std::int64_t x = 0; x < n; ++x) {
        out[x] =
            Blending::of(tap, taps + ends[x], start,
                         [row](std::int64_t at) __attribute__((always_inline)) { return row[at]; });
      }
    } else if constexpr (kind == Channels::kFew) {
      const Four starts = {start, start, start, start};
      const auto four = [row](std::int64_t at)
                            __attribute__((always_inline)) { return four_at(row + at); };
      // What a pixel writes too much is its neighbour's; the last one has none.
      for (std::int64_t x = 0; x + 1 < n; ++x, out += channels) {
        const Four pixel = Blending::of(tap, taps + ends[x], starts, four);
        std::memcpy(out, &pixel, sizeof(pixel));
      }
      const Four last = Blending::of(tap, taps + ends[n - 1], starts, four);
      for (std::int64_t c = 0; c < channels; ++c) out[c] = last[c];
    } else {
      for (std::int64_t x = 0; x < n; ++x, out += channels) {
        const Tap* const first = tap;
        for (std::int64_t c = 0; c < channels; ++c) {
          tap = first;
          out[c] = Blending::of(tap, taps + ends[x], start,
                                [row, c](std::int64_t at)
                                    __attribute__((always_inline)) { return row[at + c]; });
        }
      }
    }
    return -1;
  }
};

// Sums of rows of T, four taps at a time while there are as many: each sum is in the taps' order.
template <class T>
struct SumDownBody {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto& down = *static_cast<const DownData*>(args.data);
    auto* __restrict out = reinterpret_cast<float*>(args.out);
    const std::int64_t n = args.n;
    const auto row = [&](std::size_t t) { return reinterpret_cast<const T*>(args.in[t]); };
    const auto weight = [&](std::size_t t) { return down.taps[t].weight; };
    const float start = down.start;
    const std::size_t taps = down.taps.size();
    std::size_t t = 0;
    for (; t + 4 <= taps; t += 4) {
      add_four(row(t), row(t + 1), row(t + 2), row(t + 3), weight(t), weight(t + 1), weight(t + 2),
               weight(t + 3), t == 0, start, out, n);
    }
    if (t == 0) std::fill_n(out, n, start);
    for (; t < taps; ++t) add_one(row(t), weight(t), out, n);
    const float scale = down.scale;
    if (scale != 1) {
      for (std::int64_t i = 0; i < n; ++i) out[i] *= scale;
    }
    return -1;
  }

 private:
  [[gnu::always_inline]] static void add_one(const T* __restrict a, float wa, float* __restrict out,
                                             std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] += wa * static_cast<float>(a[i]);
  }
  [[gnu::always_inline]] static void add_four(const T* __restrict a, const T* __restrict b,
                                              const T* __restrict c, const T* __restrict d,
                                              float wa, float wb, float wc, float wd, bool first,
                                              float start, float* __restrict out, std::int64_t n) {
    const auto sum = [&](std::int64_t i, float from) __attribute__((always_inline)) {
      from += wa * static_cast<float>(a[i]);
      from += wb * static_cast<float>(b[i]);
      from += wc * static_cast<float>(c[i]);
      return from + wd * static_cast<float>(d[i]);
    };
    if (first) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = sum(i, start);
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = sum(i, out[i]);
    }
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
