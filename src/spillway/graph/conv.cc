#include "spillway/graph/conv.h"

#include <algorithm>

#include "spillway/graph/gemm_blocks.h"

namespace spillway::graph {
namespace {

// Measured on Zen 3 (32 KiB of L1, 512 KiB of L2).
constexpr std::int64_t kDepthBytes = 1024;        // of a patch at a time
constexpr std::int64_t kPanelBytes = 384 * 1024;  // of the kernel, in L2
constexpr std::int64_t kNearBytes = 192;  // rows this short need no copy; 256 share few sets
constexpr std::int64_t kFewPixels = 32;   // use the kernel too few times to copy it
constexpr std::int64_t kShortRun = 64;    // items too few to be read where they lie
constexpr std::int64_t kPartSide = 256;   // of shorter parts too much is copied twice
// The largest tile of any level, in items.
constexpr std::int64_t kTileRows = 8;
constexpr std::int64_t kTileColumns = 48;
constexpr std::int64_t kLanes = 16;

// Runs are short where channels are few: vectors, the last of which may copy again what the one
// before it has copied.
template <class T>
[[gnu::always_inline]] inline void copy_run(const T* from, std::int64_t n, T* to) {
  using Long = Vectors<T, 32>;
  using Short = Vectors<T, 16>;
  if (n >= Long::kLanes) {
    for (std::int64_t j = 0; j + Long::kLanes <= n; j += Long::kLanes) {
      Long::at(to + j) = Long::at(from + j);
    }
    Long::at(to + n - Long::kLanes) = Long::at(from + n - Long::kLanes);
  } else if (n >= Short::kLanes) {
    Short::at(to) = Short::at(from);
    Short::at(to + n - Short::kLanes) = Short::at(from + n - Short::kLanes);
  } else {
    for (std::int64_t j = 0; j < n; ++j) to[j] = from[j];
  }
}

// Rows of the matrix that is never made: what the kernel covers, pixel by pixel of the result.
template <class T>
class PatchRows {
 public:
  explicit PatchRows(const ConvTask<T>& task)
      : s_(task.shape),
        images_(task.product.a),
        first_(task.first),
        depth_(s_.channels / s_.groups),
        wide_(s_.dilation_across == 1 && s_.groups == 1) {}

  [[gnu::always_inline]] Strip<T> at(std::int64_t i, std::int64_t k, std::int64_t rows,
                                     std::int64_t depth, T* room) const {
    if (k != k_) tap_ = tap_at(k_ = k);
    if (i != i_) pixel_ = pixel_at(first_ + i);
    i_ = i + rows;
    if (const T* items = in_place(tap_, pixel_, rows, depth)) {
      for (std::int64_t r = 0; r < rows; ++r) next(pixel_);
      return {items, s_.stride_across * s_.channels};
    }
    T* to = room;
    for (std::int64_t r = 0; r < rows; ++r, to += depth) {
      wide_ ? copy_rows(tap_, pixel_, depth, to) : copy_taps(tap_, pixel_, depth, to);
      next(pixel_);
    }
    return {room, depth};
  }

 private:
  struct Tap {
    std::int64_t row;
    std::int64_t column;
    std::int64_t channel;
  };
  struct Pixel {
    const T* image;
    std::int64_t x;  // in the result
    std::int64_t y;
  };

  Tap tap_at(std::int64_t k) const {
    const std::int64_t at = k / depth_;
    return {at / s_.kernel_width, at % s_.kernel_width, k % depth_};
  }
  Pixel pixel_at(std::int64_t i) const {
    const std::int64_t row = i / s_.out_width;
    const std::int64_t image = row / s_.out_height;
    return {images_ + image * s_.height * s_.width * s_.channels, i % s_.out_width,
            row % s_.out_height};
  }
  void next(Pixel& p) const {
    if (++p.x < s_.out_width) return;
    p.x = 0;
    if (++p.y < s_.out_height) return;
    p.y = 0;
    p.image += s_.height * s_.width * s_.channels;
  }
  std::int64_t row_of(const Tap& tap, const Pixel& p) const {
    return p.y * s_.stride_down - s_.top + tap.row * s_.dilation_down;
  }
  bool has_row(std::int64_t y) const { return y >= 0 && y < s_.height; }

  // Where pixels of one row of the result, all inside of the image, need a stretch of one row of
  // the kernel, the image itself has the rows of the matrix, overlapping each other.
  [[gnu::always_inline]] const T* in_place(const Tap& tap, const Pixel& p, std::int64_t rows,
                                           std::int64_t depth) const {
    if (!wide_ || depth < kShortRun || p.x + rows > s_.out_width) return nullptr;
    const std::int64_t begin = tap.column * depth_ + tap.channel;
    if (begin + depth > s_.kernel_width * depth_) return nullptr;
    const std::int64_t y = row_of(tap, p);
    const std::int64_t x = (p.x * s_.stride_across - s_.left) * depth_ + begin;
    const std::int64_t last = x + (rows - 1) * s_.stride_across * depth_;
    if (!has_row(y) || x < 0 || last + depth > s_.width * depth_) return nullptr;
    return p.image + y * s_.width * depth_ + x;
  }

  // Taps of a row of the kernel lie side by side: as much of it at once as is wanted.
  [[gnu::always_inline]] void copy_rows(Tap tap, const Pixel& p, std::int64_t depth, T* to) const {
    const std::int64_t width = s_.width * depth_;
    while (depth > 0) {
      const std::int64_t begin = tap.column * depth_ + tap.channel;
      const std::int64_t n = std::min(depth, s_.kernel_width * depth_ - begin);
      const std::int64_t y = row_of(tap, p);
      const std::int64_t x = (p.x * s_.stride_across - s_.left) * depth_ + begin;
      if (!has_row(y)) {
        std::fill_n(to, n, T(0));
      } else {
        const std::int64_t before = std::clamp<std::int64_t>(-x, 0, n);
        const std::int64_t end = std::clamp<std::int64_t>(width - x, before, n);
        const T* from = p.image + y * width + x;
        if (before > 0) std::fill_n(to, before, T(0));
        copy_run(from + before, end - before, to + before);
        if (end < n) std::fill_n(to + end, n - end, T(0));
      }
      to += n;
      depth -= n;
      tap = {tap.row + 1, 0, 0};
    }
  }

  [[gnu::always_inline]] void copy_taps(Tap tap, const Pixel& p, std::int64_t depth, T* to) const {
    while (depth > 0) {
      const std::int64_t n = std::min(depth, depth_ - tap.channel);
      const std::int64_t y = row_of(tap, p);
      const std::int64_t x = p.x * s_.stride_across - s_.left + tap.column * s_.dilation_across;
      if (has_row(y) && x >= 0 && x < s_.width) {
        const T* from = p.image + (y * s_.width + x) * s_.channels + tap.channel;
        copy_run(from, n, to);
      } else {
        std::fill_n(to, n, T(0));
      }
      to += n;
      depth -= n;
      tap.channel = 0;
      if (++tap.column == s_.kernel_width) tap = {tap.row + 1, 0, 0};
    }
  }

  const ConvShape& s_;
  const T* const images_;
  const std::int64_t first_;
  const std::int64_t depth_;  // channels of a group
  const bool wide_;
  // Where the last strip was and ended: the next one is mostly there, and divisions take as long as
  // a small kernel's products.
  mutable std::int64_t k_ = -1;
  mutable std::int64_t i_ = -1;
  mutable Tap tap_{};
  mutable Pixel pixel_{};
};

template <class Level, class T>
[[gnu::always_inline]] inline void run_on(const ConvTask<T>& task) {
  const PatchRows<T> rows(task);
  Blocked<Level, T, PatchRows<T>>{task.product, rows}.run();
}

template <class T>
struct Levels {
  static void baseline(const ConvTask<T>& t) { run_on<BaselineTiles>(t); }
#if defined(__x86_64__)
  [[gnu::target("avx2,fma")]] static void avx2(const ConvTask<T>& t) { run_on<Avx2Tiles>(t); }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]] static void avx512(
      const ConvTask<T>& t) {
    run_on<Avx512Tiles>(t);
  }
#endif
  static auto at([[maybe_unused]] Simd level) {
#if defined(__x86_64__)
    if (level == Simd::kAvx512) return avx512;
    if (level == Simd::kAvx2) return avx2;
#endif
    return baseline;
  }
};

// A block of k that ends where a row of the kernel does is read in place.
std::int64_t depth_of(const ConvShape& s, std::int64_t k, std::int64_t most) {
  const std::int64_t run = s.kernel_width * s.channels / s.groups;
  const std::int64_t pieces = std::max<std::int64_t>(1, (run + most - 1) / most);
  const bool even = run % pieces == 0 && run / pieces >= kShortRun;
  return std::clamp<std::int64_t>(k, 1, even ? run / pieces : most);
}

bool is_plain(const ConvShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_down == 1 &&
         s.stride_across == 1 && s.groups == 1 && s.out_height == s.height &&
         s.out_width == s.width && s.top == 0 && s.left == 0;
}

}  // namespace

template <class T>
Conv<T>::Conv(const ConvShape& shape, Simd level) : shape_(shape) {
  const ConvShape& s = shape_;
  constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
  Product& p = product_;
  p.m = s.pixels();
  p.n = s.out_channels / s.groups;
  p.k = s.kernel_height * s.kernel_width * s.channels / s.groups;
  p.a = {p.k, 1};
  p.b = {s.out_channels, 1};
  p.c = {s.out_channels, 1};
  if (is_plain(s)) {
    plain_.emplace(p, level);
    return;
  }
  GemmBlocks& b = blocks_;
  b.depth = depth_of(s, p.k, kDepthBytes / kItem);
  b.columns = std::min(p.n, kPanelBytes / kItem / b.depth / kTileColumns * kTileColumns);
  b.rows = p.m;
  b.b_in_place = p.m <= kFewPixels || p.b.row * kItem <= kNearBytes;
  b.c_in_place = true;
  const std::int64_t width = (b.columns + kLanes - 1) / kLanes * kLanes;
  const std::int64_t items =
      b.depth * ((b.b_in_place ? std::max(kTileColumns, width) : width) + kTileRows);
  scratch_ = static_cast<std::size_t>(items) * sizeof(T);
  // What does not fill a long vector fills a shorter one better.
  if (p.n * kItem <= 32) level = std::min(level, Simd::kAvx2);
  run_ = Levels<T>::at(level);
  const std::int64_t most = parts_worth(static_cast<double>(p.m) * static_cast<double>(p.k) *
                                        static_cast<double>(s.out_channels));
  while (2 * down_ * across_ <= most && std::max(p.m / down_, p.n / across_) >= 2 * kPartSide) {
    (p.m / down_ > p.n / across_ ? down_ : across_) *= 2;
  }
}

template <class T>
std::int64_t Conv<T>::parts() const {
  return plain_ ? plain_->parts() : down_ * across_;
}

template <class T>
std::size_t Conv<T>::scratch() const {
  return plain_ ? plain_->scratch() : scratch_;
}

template <class T>
void Conv<T>::run_rectangle(const Rectangle& r, const T* images, const T* kernel, T* out,
                            std::byte* scratch) const {
  const ConvShape& s = shape_;
  const Product& p = product_;
  for (std::int64_t g = 0; g < s.groups; ++g) {
    const std::int64_t column = g * p.n + r.column;
    run_({{p, blocks_, r.pixels, r.columns, images + g * (s.channels / s.groups), kernel + column,
           out + r.first * p.c.row + column, scratch},
          s,
          r.first});
  }
}

template <class T>
void Conv<T>::run(const T* images, const T* kernel, T* out, std::byte* scratch) const {
  if (plain_) return plain_->run(images, kernel, out, scratch);
  run_rectangle({0, product_.m, 0, product_.n}, images, kernel, out, scratch);
}

template <class T>
void Conv<T>::run_part(std::int64_t part, const T* images, const T* kernel, T* out,
                       std::byte* scratch) const {
  if (plain_) return plain_->run_part(part, images, kernel, out, scratch);
  // Where a part ends, a tile does.
  const auto cut = [](std::int64_t size, std::int64_t at, std::int64_t of, std::int64_t tile) {
    return at == of ? size : size * at / of / tile * tile;
  };
  const std::int64_t i = part / across_;
  const std::int64_t j = part % across_;
  const std::int64_t top = cut(product_.m, i, down_, kTileRows);
  const std::int64_t left = cut(product_.n, j, across_, kTileColumns);
  run_rectangle({top, cut(product_.m, i + 1, down_, kTileRows) - top, left,
                 cut(product_.n, j + 1, across_, kTileColumns) - left},
                images, kernel, out, scratch);
}

template class Conv<float>;
template class Conv<double>;

}  // namespace spillway::graph
