#include "spillway/graph/gemm.h"

#include <algorithm>
#include <utility>

#include "spillway/base/workers.h"
#include "spillway/graph/gemm_blocks.h"

namespace spillway::graph {
namespace {

// Measured on Zen 4 (32 KiB of L1, 1 MiB of L2); a quarter more or less changes little.
constexpr std::int64_t kDepthBytes = 1024;        // of a row of a: a tile's rows stay in L1
constexpr std::int64_t kPanelBytes = 768 * 1024;  // of b, in L2
constexpr std::int64_t kNearBytes = 512;          // rows of b this short are as good as packed
constexpr std::int64_t kSmallBytes = 32 * 1024;   // and so is a b of this size
constexpr std::int64_t kFewRows = 32;             // use b too few times to pack it
constexpr std::int64_t kStreamRows = 8;           // read b as fast as memory gives it,
constexpr std::int64_t kStreamDepth = 16;         // in so many streams
constexpr std::int64_t kFewColumns = 96;          // use a too few times to pack it
constexpr std::int64_t kSumRows = 256;            // whose sums are kept apart at a time
constexpr std::int64_t kNarrow = 8;               // fewer columns: products of rows and columns
constexpr std::int64_t kDotDepth = 4096;
constexpr double kPartProducts = 4e6;    // some 80 us
constexpr std::int64_t kPartSide = 256;  // of shorter parts too much is packed twice
// The largest tile of any level, in items.
constexpr std::int64_t kTileRows = 8;
constexpr std::int64_t kTileColumns = 48;
constexpr std::int64_t kLanes = 16;

template <class T>
inline constexpr bool kSame = sizeof(T) == sizeof(Summed<T>);

template <class T>
GemmBlocks blocks_of(const Product& p) {
  constexpr auto kItem = static_cast<std::int64_t>(sizeof(Summed<T>));
  GemmBlocks s;
  s.a_in_place = kSame<T> && p.a.column == 1 && p.n <= kFewColumns;
  s.b_in_place =
      kSame<T> && p.b.column == 1 &&
      (p.m <= kFewRows || p.b.row * kItem <= kNearBytes || p.k * p.n * kItem <= kSmallBytes);
  s.c_in_place = kSame<T> && p.c.column == 1;
  const bool streams = s.b_in_place && s.c_in_place && p.m <= kStreamRows;
  const std::int64_t depth = streams ? kStreamDepth : kDepthBytes / kItem;
  const std::int64_t columns = kPanelBytes / kDepthBytes / kTileColumns * kTileColumns;
  s.depth = std::clamp<std::int64_t>(p.k, 1, depth);
  s.columns = streams ? p.n : std::min(p.n, columns);
  s.rows = s.c_in_place ? p.m : std::min(p.m, kSumRows);
  return s;
}

template <class T>
std::size_t scratch_of(const Product& p, const GemmBlocks& s, bool dots) {
  std::int64_t items = 0;
  if (dots) {
    items = (kDotRows * kDotLanes + (p.b.row == 1 ? 0 : s.depth)) * p.n;
  } else {
    const std::int64_t width = round_up(s.columns, kLanes);
    items = s.depth * ((s.b_in_place ? kTileColumns : width) + kTileRows);
    if (!s.c_in_place) items += s.rows * width;
  }
  return static_cast<std::size_t>(items) * sizeof(Summed<T>);
}

void transpose(Product& p) {
  std::swap(p.m, p.n);
  std::swap(p.a, p.b);
  std::swap(p.conjugate_a, p.conjugate_b);
  for (Layout* layout : {&p.a, &p.b, &p.c}) std::swap(layout->row, layout->column);
}

template <class Level, class T, bool kDots>
[[gnu::always_inline]] inline void run_on(const GemmTask<T>& t) {
  if constexpr (kDots) {
    run_dots<Level>(t);
  } else {
    const MatrixRows<T> rows{t.a, t.product.a, t.blocks.a_in_place};
    Blocked<Level, T, MatrixRows<T>>{t, rows}.run();
  }
}

template <class T, bool kDots>
struct Levels {
  static void baseline(const GemmTask<T>& t) { run_on<BaselineTiles, T, kDots>(t); }
#if defined(__x86_64__)
  [[gnu::target("avx2,fma")]] static void avx2(const GemmTask<T>& t) {
    run_on<Avx2Tiles, T, kDots>(t);
  }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]] static void avx512(
      const GemmTask<T>& t) {
    run_on<Avx512Tiles, T, kDots>(t);
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

template <class T>
void run_complex(const GemmTask<T>& t) {
  const Product& p = t.product;
  const auto item = [](const T& value, bool conjugate) {
    return conjugate ? std::conj(value) : value;
  };
  Looks looks;
  for (std::int64_t i = 0; i < t.m; ++i) {
    if (looks.abandoned(t.n * p.k)) return;
    for (std::int64_t j = 0; j < t.n; ++j) {
      T sum = t.more ? t.c[i * p.c.row + j * p.c.column] : T(0);
      for (std::int64_t k = 0; k < p.k; ++k) {
        sum += item(t.a[i * p.a.row + k * p.a.column], p.conjugate_a) *
               item(t.b[k * p.b.row + j * p.b.column], p.conjugate_b);
      }
      t.c[i * p.c.row + j * p.c.column] = sum;
    }
  }
}

}  // namespace

std::int64_t parts_worth(double products) {
  if (products < 2 * kPartProducts) return 1;
  const int cpus = Workers::usable_cpus();
  return cpus == 1 ? 1 : static_cast<std::int64_t>(std::min(4.0 * cpus, products / kPartProducts));
}

template <class T>
Gemm<T>::Gemm(const Product& product, Simd level) : product_(product) {
  const Product& p = product_;
  if constexpr (kComplex<T>) {
    run_ = run_complex<T>;
    in_stretches_ = true;
  } else {
    // Lanes along k where rows and columns are runs of it; else along the longer side.
    const bool deep = kSame<T> && p.k >= kDotLanes;
    const bool few_rows = deep && p.m < kNarrow && p.b.row == 1;
    const bool dots = (deep && p.n < kNarrow && p.a.column == 1) || few_rows;
    swapped_ = dots ? p.n >= kNarrow || p.a.column != 1 : p.n < kNarrow && p.m > p.n;
    if (swapped_) transpose(product_);
    blocks_ = blocks_of<T>(p);
    if (dots) blocks_.depth = p.b.row == 1 ? p.k : std::min(p.k, kDotDepth);
    scratch_ = scratch_of<T>(p, blocks_, dots);
    in_stretches_ = !dots && blocks_.c_in_place;
    // What does not fill a long vector fills a shorter one better.
    if (p.n * static_cast<std::int64_t>(sizeof(Summed<T>)) <= 32)
      level = std::min(level, Simd::kAvx2);
    run_ = dots && kSame<T> ? Levels<T, kSame<T>>::at(level) : Levels<T, false>::at(level);
  }
  const std::int64_t most =
      parts_worth(static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k));
  while (2 * parts() <= most && std::max(p.m / down_, p.n / across_) >= 2 * kPartSide) {
    (p.m / down_ > p.n / across_ ? down_ : across_) *= 2;
  }
}

template <class T>
void Gemm<T>::run_rectangle(const Rectangle& r, const T* a, const T* b, T* c, std::byte* scratch,
                            bool more) const {
  if (swapped_) std::swap(a, b);
  const Product& p = product_;
  run_({p, blocks_, r.m, r.n, a + r.i * p.a.row, b + r.j * p.b.column,
        c + r.i * p.c.row + r.j * p.c.column, scratch, more});
}

template <class T>
void Gemm<T>::run(const T* a, const T* b, T* c, std::byte* scratch) const {
  run_rectangle({0, product_.m, 0, product_.n}, a, b, c, scratch, false);
}

template <class T>
void Gemm<T>::run_part(std::int64_t part, const T* a, const T* b, T* c, std::byte* scratch,
                       bool more) const {
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
                a, b, c, scratch, more);
}

template class Gemm<Half>;
template class Gemm<BFloat16>;
template class Gemm<float>;
template class Gemm<double>;
template class Gemm<std::int16_t>;
template class Gemm<std::int32_t>;
template class Gemm<std::int64_t>;
template class Gemm<std::complex<float>>;
template class Gemm<std::complex<double>>;

}  // namespace spillway::graph
