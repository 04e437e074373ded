#include "spillway/graph/depthwise.h"

#include <algorithm>

#include "spillway/base/interrupt.h"
#include "spillway/graph/gemm_tile.h"

namespace spillway::graph {
namespace {

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"  // no call passes a vector: everything is inlined
#endif

// Where the sums of some pixels side by side come from.
template <class T>
struct Patch {
  const T* image;  // the first pixel's first tap, which may lie outside
  const T* kernel;
  T* out;
  Window::Taps rows;
  Window::Taps columns;
};

template <class T, std::size_t kBytes>
class Rows {
 public:
  [[gnu::always_inline]] explicit Rows(const DepthwiseTask<T>& task) : t_(task) {}

  [[gnu::always_inline]] void run() const {
    const Window& down = s_.windows.down;
    const std::int64_t row_items = s_.windows.across.out * outputs_;
    T* to = t_.out + t_.begin * row_items;
    Looks looks;
    for (std::int64_t row = t_.begin; row < t_.end; ++row, to += row_items) {
      if (looks.abandoned(row_items)) return;
      const std::int64_t y = down.start(row % down.out);
      const T* image = t_.images + (row / down.out * s_.height + y) * s_.width * s_.channels;
      run_row(image, down.inside(y, s_.height), to);
    }
  }

 private:
  using V = Vectors<T, kBytes>;
  using Vector = typename V::Vector;
  static constexpr int kPixels = 4;  // that share what is read of the kernel

  [[gnu::always_inline]] void run_row(const T* image, Window::Taps rows, T* to) const {
    const Window& across = s_.windows.across;
    for (std::int64_t i = 0; i < across.out;) {
      const std::int64_t x = across.start(i);
      Patch<T> patch{image + x * s_.channels, t_.kernel, to + i * outputs_, rows,
                     across.inside(x, s_.width)};
      const bool four = i + kPixels <= across.out && whole(x) &&
                        whole(across.start(i + kPixels - 1)) && s_.multiplier == 1;
      if (s_.multiplier != 1 || s_.channels < V::kLanes) {
        sum_each(patch);
      } else if (four) {
        sum_channels<kPixels>(patch);
      } else {
        sum_channels<1>(patch);
      }
      i += four && s_.channels >= V::kLanes ? kPixels : 1;
    }
  }
  bool whole(std::int64_t x) const {
    const Window::Taps taps = s_.windows.across.inside(x, s_.width);
    return taps.end - taps.begin == s_.windows.across.size;
  }

  // Two vectors of channels at a time, then one; the last ends with the channels, and may make
  // again what the one before it has made.
  template <int kSide>
  [[gnu::always_inline]] void sum_channels(const Patch<T>& patch) const {
    std::int64_t c = 0;
    for (; c + 2 * V::kLanes <= s_.channels; c += 2 * V::kLanes) sum<kSide, 2>(patch, c);
    for (; c + V::kLanes <= s_.channels; c += V::kLanes) sum<kSide, 1>(patch, c);
    if (c < s_.channels) sum<kSide, 1>(patch, s_.channels - V::kLanes);
  }

  template <int kSide, int kVectors>
  [[gnu::always_inline]] void sum(const Patch<T>& patch, std::int64_t c) const {
    const std::int64_t step = s_.windows.across.stride * s_.channels;
    Vector sums[kSide][kVectors] = {};
    for (std::int64_t r = patch.rows.begin; r < patch.rows.end; ++r) {
      const T* row = patch.image + r * s_.windows.down.dilation * s_.width * s_.channels + c;
      const T* weights = patch.kernel + r * s_.windows.across.size * s_.channels + c;
      for (std::int64_t q = patch.columns.begin; q < patch.columns.end; ++q) {
        const T* from = row + q * s_.windows.across.dilation * s_.channels;
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          const Vector w = V::at(weights + q * s_.channels + v * V::kLanes);
#pragma GCC unroll 4
          for (int p = 0; p < kSide; ++p) {
            const Vector x = V::at(from + p * step + v * V::kLanes);
            add_product<T>(sums[p][v], x, w);
          }
        }
      }
    }
#pragma GCC unroll 4
    for (int p = 0; p < kSide; ++p) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        V::at(patch.out + p * s_.channels + c + v * V::kLanes) = sums[p][v];
      }
    }
  }

  // Few channels, or several results of each.
  [[gnu::always_inline]] void sum_each(const Patch<T>& patch) const {
    std::fill_n(patch.out, outputs_, T(0));
    for (std::int64_t r = patch.rows.begin; r < patch.rows.end; ++r) {
      for (std::int64_t q = patch.columns.begin; q < patch.columns.end; ++q) {
        const T* from = patch.image +
                        (r * s_.windows.down.dilation * s_.width + q * s_.windows.across.dilation) *
                            s_.channels;
        const T* weights = patch.kernel + (r * s_.windows.across.size + q) * outputs_;
        T* to = patch.out;
        for (std::int64_t c = 0; c < s_.channels; ++c) {
          for (std::int64_t m = 0; m < s_.multiplier; ++m, ++to, ++weights) {
            *to = std::fma(from[c], *weights, *to);
          }
        }
      }
    }
  }

  const DepthwiseTask<T>& t_;
  const DepthwiseShape& s_ = t_.shape;
  const std::int64_t outputs_ = s_.channels * s_.multiplier;
};

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class T>
struct Levels {
  static void baseline(const DepthwiseTask<T>& t) { Rows<T, 16>(t).run(); }
#if defined(__x86_64__)
  [[gnu::target("avx2,fma")]] static void avx2(const DepthwiseTask<T>& t) { Rows<T, 32>(t).run(); }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]] static void avx512(
      const DepthwiseTask<T>& t) {
    Rows<T, 64>(t).run();
  }
#endif
};

}  // namespace

template <class T>
void (*depthwise_rows([[maybe_unused]] const DepthwiseShape& shape,
                      [[maybe_unused]] Simd level))(const DepthwiseTask<T>&) {
#if defined(__x86_64__)
  const bool narrow = shape.channels * static_cast<std::int64_t>(sizeof(T)) < 64;
  if (level == Simd::kAvx512 && !narrow) return Levels<T>::avx512;
  if (level >= Simd::kAvx2) return Levels<T>::avx2;
#endif
  return Levels<T>::baseline;
}

template void (*depthwise_rows<float>(const DepthwiseShape&, Simd))(const DepthwiseTask<float>&);
template void (*depthwise_rows<double>(const DepthwiseShape&, Simd))(const DepthwiseTask<double>&);

}  // namespace spillway::graph
