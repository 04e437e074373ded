#pragma once

#include <algorithm>
#include <memory>

#include "spillway/graph/moves.h"
#include "spillway/graph/window.h"

// Pools of images: one number for all that a window covers, channel by channel.
namespace spillway::graph {

template <class Allowed>
Status infer_pool(Infer& c) {
  if (!is_one_of(Allowed(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  SW_RETURN_IF_ERROR(check_images(c));
  const auto size = c.attrs().get_or("ksize", std::vector<std::int64_t>());
  if (size.size() != 2 || size[0] <= 0 || size[1] <= 0) {
    return invalid_argument("ksize must be two positive numbers, [down, across]");
  }
  const Shape& in = c.input(0).shape;
  SW_ASSIGN(const Windows w, windows_of(c.attrs(), in, size[0], size[1]));
  const bool ranked = in.has_rank();
  c.set(0, c.input(0).dtype,
        shape_of({ranked ? in[0] : kUnknownDim, w.down.out, w.across.out,
                  ranked ? in[3] : kUnknownDim}));
  return {};
}

struct PoolShape {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  Windows windows;
};

// Some rows of the result, counted over all images.
template <class T>
struct PoolTask {
  const PoolShape& shape;
  const T* images;
  T* out;
  std::int64_t begin;
  std::int64_t end;
  std::byte* scratch;
};

// Pool<T>: Sum, what a window is gathered in; begin(), take(sum, item), finish(sum, count).
template <class Pool, class T>
[[gnu::always_inline]] inline void pool_rows(const PoolTask<T>& t) {
  using Sum = typename Pool::Sum;
  const PoolShape& s = t.shape;
  const Window& down = s.windows.down;
  const Window& across = s.windows.across;
  Sum* __restrict const sums = reinterpret_cast<Sum*>(t.scratch);
  T* __restrict to = t.out + t.begin * across.out * s.channels;
  Looks looks;
  for (std::int64_t row = t.begin; row < t.end; ++row) {
    if (looks.abandoned(across.out * s.channels)) return;
    const T* image = t.images + row / down.out * s.height * s.width * s.channels;
    const std::int64_t y = down.start(row % down.out);
    const Window::Taps rows = down.inside(y, s.height);
    for (std::int64_t i = 0; i < across.out; ++i, to += s.channels) {
      const std::int64_t x = across.start(i);
      const Window::Taps columns = across.inside(x, s.width);
      for (std::int64_t c = 0; c < s.channels; ++c) sums[c] = Pool::begin();
      for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        for (std::int64_t q = columns.begin; q < columns.end; ++q) {
          const T* __restrict from =
              image + ((y + r * down.dilation) * s.width + x + q * across.dilation) * s.channels;
          for (std::int64_t c = 0; c < s.channels; ++c) sums[c] = Pool::take(sums[c], from[c]);
        }
      }
      const std::int64_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
      for (std::int64_t c = 0; c < s.channels; ++c) to[c] = Pool::finish(sums[c], count);
    }
  }
}

template <class Pool, class T>
struct PoolLevels {
  static void baseline(const PoolTask<T>& t) { pool_rows<Pool>(t); }
#if defined(__x86_64__)
  [[gnu::target("avx2")]] static void avx2(const PoolTask<T>& t) { pool_rows<Pool>(t); }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void avx512(const PoolTask<T>& t) {
    pool_rows<Pool>(t);
  }
#endif
  static auto best() {
#if defined(__x86_64__)
    if (simd_level() == Simd::kAvx512) return avx512;
    if (simd_level() == Simd::kAvx2) return avx2;
#endif
    return baseline;
  }
};

template <class Pool, class T>
class PoolKernel final : public Kernel {
 public:
  PoolKernel(const PoolShape& shape, std::int64_t batch)
      : shape_(shape),
        shares_(batch * shape.windows.down.out,
                static_cast<double>(batch * shape.windows.down.out * shape.windows.across.out *
                                    shape.channels) *
                    static_cast<double>(shape.windows.down.size * shape.windows.across.size)) {}
  std::size_t scratch() const override {
    return static_cast<std::size_t>(shape_.channels) * sizeof(typename Pool::Sum);
  }
  std::int64_t parts() const override { return shares_.parts; }
  Status run(const std::byte* const* in, std::byte* const* out, std::byte* scratch) const override {
    run_rows(0, shares_.units, in, out, scratch);
    return {};
  }
  Status run_part(std::int64_t part, const std::byte* const* in, std::byte* const* out,
                  std::byte* scratch) const override {
    run_rows(shares_.begin(part), shares_.begin(part + 1), in, out, scratch);
    return {};
  }

 private:
  void run_rows(std::int64_t begin, std::int64_t end, const std::byte* const* in,
                std::byte* const* out, std::byte* scratch) const {
    run_({shape_, reinterpret_cast<const T*>(in[0]), reinterpret_cast<T*>(out[0]), begin, end,
          scratch});
  }

  const PoolShape shape_;
  const Shares shares_;
  void (*const run_)(const PoolTask<T>&) = PoolLevels<Pool, T>::best();
};

template <template <class> class Pool, class Allowed>
Result<KernelPtr> prepare_pool(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const auto size = p.attrs.get_or("ksize", std::vector<std::int64_t>());
  SW_ASSIGN(const Windows w, windows_of(p.attrs, in, size[0], size[1]));
  const PoolShape shape{in[1], in[2], in[3], w};
  KernelPtr kernel;
  with_type(Allowed(), p.inputs[0].dtype,
            [&]<class T>() { kernel = std::make_unique<PoolKernel<Pool<T>, T>>(shape, in[0]); });
  return kernel;
}

inline constexpr ParamDef kPoolParams[] = {{"input", ParamKind::kTensor},
                                           {"ksize", ParamKind::kInts},
                                           {"strides", ParamKind::kInts},
                                           {"padding", ParamKind::kString},
                                           {"paddings", ParamKind::kInts, "(0, 0, 0, 0)"}};

}  // namespace spillway::graph
