#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "spillway/io/images/jpeg_kernels.h"

// A register holds a row of each of two blocks, or 32 samples.
namespace spillway::jpeg {
namespace {

#define SW_AVX2 [[gnu::target("avx2")]]
#define SW_AVX2_INLINE [[gnu::target("avx2"), gnu::always_inline]] inline

using Rows = __m256i[8];  // NOLINT(modernize-avoid-c-arrays): std::array drops its attributes

SW_AVX2_INLINE __m256i both(int value) { return _mm256_set1_epi16(static_cast<short>(value)); }
// Two 16-bit factors by turns.
SW_AVX2_INLINE __m256i factors(int first, int second) {
  return _mm256_set1_epi32(static_cast<int>((static_cast<unsigned>(second) << 16U) |
                                            (static_cast<unsigned>(first) & 0xFFFFU)));
}
SW_AVX2_INLINE __m256i load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
SW_AVX2_INLINE __m256i load_halves(const void* low, const void* high) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(low))),
      _mm_loadu_si128(static_cast<const __m128i*>(high)), 1);
}
SW_AVX2_INLINE void store(void* to, __m256i value) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), value);
}

SW_AVX2_INLINE void dequantize(const BlockPair& pair, const QuantPair& quants, Rows& rows) {
#pragma GCC unroll 8
  for (int y = 0; y < 8; ++y) {
    const auto at = static_cast<std::size_t>(y) * 8;
    rows[y] = _mm256_mullo_epi16(load_halves(pair.blocks[0] + at, pair.blocks[1] + at),
                                 load(quants.data() + 2 * at));
  }
}

// Rows become columns, in each block by itself.
SW_AVX2_INLINE void transpose(Rows& r) {
  Rows a;
  Rows b;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
    a[i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
    a[4 + i] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
    b[2 * i] = _mm256_unpacklo_epi32(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm256_unpackhi_epi32(a[2 * i], a[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (std::size_t i = 0; i < 2; ++i) {
    r[4 * i] = _mm256_unpacklo_epi64(b[4 * i], b[4 * i + 2]);
    r[4 * i + 1] = _mm256_unpackhi_epi64(b[4 * i], b[4 * i + 2]);
    r[4 * i + 2] = _mm256_unpacklo_epi64(b[4 * i + 1], b[4 * i + 3]);
    r[4 * i + 3] = _mm256_unpackhi_epi64(b[4 * i + 1], b[4 * i + 3]);
  }
}

SW_AVX2_INLINE void store_low(void* to, __m128i value) {
  _mm_storel_epi64(static_cast<__m128i*>(to), value);
}

SW_AVX2_INLINE void store_pixels(const Rows& rows, const BlockPair& pair) {
  const bool adjacent = pair.to[1] == pair.to[0] + 8;
  std::uint8_t* first = pair.to[0];
  std::uint8_t* second = pair.to[1];
#pragma GCC unroll 4
  for (int y = 0; y < 8; y += 2) {
    __m256i two = _mm256_packs_epi16(rows[y], rows[y + 1]);
    two = _mm256_add_epi8(two, _mm256_set1_epi8(-128));
    if (adjacent) {
      two = _mm256_permute4x64_epi64(two, 0xD8);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(first), _mm256_castsi256_si128(two));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(first + pair.stride),
                       _mm256_extracti128_si256(two, 1));
    } else {
      const __m128i a = _mm256_castsi256_si128(two);
      const __m128i b = _mm256_extracti128_si256(two, 1);
      store_low(first, a);
      store_low(first + pair.stride, _mm_unpackhi_epi64(a, a));
      store_low(second, b);
      store_low(second + pair.stride, _mm_unpackhi_epi64(b, b));
    }
    first += 2 * pair.stride;
    second += 2 * pair.stride;
  }
}

// ---- The accurate transform
// ---------------------------------------------------------------------

struct Wide {  // items 0-3 and 4-7 of each block
  __m256i low;
  __m256i high;
};
SW_AVX2_INLINE Wide rotate(__m256i a, __m256i b, int of_a, int of_b) {
  const __m256i by = factors(of_a, of_b);
  return {_mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), by),
          _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), by)};
}
SW_AVX2_INLINE Wide plus(Wide a, Wide b) {
  return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}
SW_AVX2_INLINE Wide minus(Wide a, Wide b) {
  return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)};
}
SW_AVX2_INLINE Wide scaled(__m256i a) {  // times 2^13
  const __m256i zero = _mm256_setzero_si256();
  return {_mm256_srai_epi32(_mm256_unpacklo_epi16(zero, a), 3),
          _mm256_srai_epi32(_mm256_unpackhi_epi16(zero, a), 3)};
}
template <int kShift>
SW_AVX2_INLINE __m256i narrow(Wide a) {
  return _mm256_packs_epi32(_mm256_srai_epi32(a.low, kShift), _mm256_srai_epi32(a.high, kShift));
}

template <int kShift>
SW_AVX2_INLINE void accurate_pass(Rows& r) {
  const __m256i half = _mm256_set1_epi32(1 << (kShift - 1));
  const Wide tmp2 = rotate(r[2], r[6], 4433, 4433 - 15137);
  const Wide tmp3 = rotate(r[2], r[6], 4433 + 6270, 4433);
  const Wide tmp0 = plus(scaled(_mm256_add_epi16(r[0], r[4])), {half, half});
  const Wide tmp1 = plus(scaled(_mm256_sub_epi16(r[0], r[4])), {half, half});
  const __m256i z3 = _mm256_add_epi16(r[7], r[3]);
  const __m256i z4 = _mm256_add_epi16(r[5], r[1]);
  const Wide y3 = rotate(z3, z4, 9633 - 16069, 9633);
  const Wide y4 = rotate(z3, z4, 9633, 9633 - 3196);
  const Wide odd0 = plus(rotate(r[7], r[1], -7373, 12299 - 7373), y4);
  const Wide odd1 = plus(rotate(r[5], r[3], -20995, 25172 - 20995), y3);
  const Wide odd2 = plus(rotate(r[5], r[3], 16819 - 20995, -20995), y4);
  const Wide odd3 = plus(rotate(r[7], r[1], 2446 - 7373, -7373), y3);
  const Wide even0 = plus(tmp0, tmp3);
  const Wide even1 = plus(tmp1, tmp2);
  const Wide even2 = minus(tmp1, tmp2);
  const Wide even3 = minus(tmp0, tmp3);
  r[0] = narrow<kShift>(plus(even0, odd0));
  r[7] = narrow<kShift>(minus(even0, odd0));
  r[1] = narrow<kShift>(plus(even1, odd1));
  r[6] = narrow<kShift>(minus(even1, odd1));
  r[2] = narrow<kShift>(plus(even2, odd2));
  r[5] = narrow<kShift>(minus(even2, odd2));
  r[3] = narrow<kShift>(plus(even3, odd3));
  r[4] = narrow<kShift>(minus(even3, odd3));
}

SW_AVX2 void accurate_idct(const BlockPair& pair, const QuantPair& quants) {
  Rows rows;
  dequantize(pair, quants, rows);
  // libjpeg's short way for blocks of one row differs where this is too large; no encoder's is.
  const __m256i large = _mm256_cmpgt_epi16(_mm256_abs_epi16(rows[0]), both(8191));
  const __m256i least = _mm256_cmpeq_epi16(rows[0], both(-32768));  // its own absolute value
  if (_mm256_testz_si256(_mm256_or_si256(large, least), _mm256_set1_epi8(-1)) == 0) {
    kPlainKernels.accurate_idct(pair, quants);
    return;
  }
  accurate_pass<11>(rows);
  transpose(rows);
  accurate_pass<18>(rows);
  transpose(rows);
  store_pixels(rows, pair);
}

// ---- The fast transform
// -------------------------------------------------------------------------

SW_AVX2_INLINE __m256i part(__m256i a, int by) { return _mm256_mulhi_epi16(a, both(by)); }

SW_AVX2_INLINE void fast_pass(Rows& r) {
  const __m256i sum04 = _mm256_add_epi16(r[0], r[4]);
  const __m256i diff04 = _mm256_sub_epi16(r[0], r[4]);
  const __m256i sum26 = _mm256_add_epi16(r[2], r[6]);
  const __m256i diff26 = _mm256_slli_epi16(_mm256_sub_epi16(r[2], r[6]), 2);
  const __m256i turned = _mm256_sub_epi16(part(diff26, 362 << 6), sum26);
  const __m256i even0 = _mm256_add_epi16(sum04, sum26);
  const __m256i even1 = _mm256_add_epi16(diff04, turned);
  const __m256i even2 = _mm256_sub_epi16(diff04, turned);
  const __m256i even3 = _mm256_sub_epi16(sum04, sum26);
  const __m256i z12 = _mm256_slli_epi16(_mm256_sub_epi16(r[1], r[7]), 2);
  const __m256i z11 = _mm256_add_epi16(r[1], r[7]);
  const __m256i z10_once = _mm256_sub_epi16(r[5], r[3]);
  const __m256i z10 = _mm256_slli_epi16(z10_once, 2);
  const __m256i z13 = _mm256_add_epi16(r[5], r[3]);
  const __m256i odd7 = _mm256_add_epi16(z11, z13);
  const __m256i odd11 = part(_mm256_slli_epi16(_mm256_sub_epi16(z11, z13), 2), 362 << 6);
  const __m256i z5 = part(_mm256_add_epi16(z10, z12), 473 << 6);
  const __m256i odd10 = _mm256_sub_epi16(part(z12, 277 << 6), z5);
  const __m256i odd12 =
      _mm256_add_epi16(_mm256_sub_epi16(part(z10, -(669 - 256) * 64), z10_once), z5);
  const __m256i odd6 = _mm256_sub_epi16(odd12, odd7);
  const __m256i odd5 = _mm256_sub_epi16(odd11, odd6);
  const __m256i odd4 = _mm256_add_epi16(odd10, odd5);
  r[0] = _mm256_add_epi16(even0, odd7);
  r[7] = _mm256_sub_epi16(even0, odd7);
  r[1] = _mm256_add_epi16(even1, odd6);
  r[6] = _mm256_sub_epi16(even1, odd6);
  r[2] = _mm256_add_epi16(even2, odd5);
  r[5] = _mm256_sub_epi16(even2, odd5);
  r[4] = _mm256_add_epi16(even3, odd4);
  r[3] = _mm256_sub_epi16(even3, odd4);
}

SW_AVX2 void fast_idct(const BlockPair& pair, const QuantPair& quants) {
  Rows rows;
  dequantize(pair, quants, rows);
  fast_pass(rows);
  transpose(rows);
  fast_pass(rows);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) rows[i] = _mm256_srai_epi16(rows[i], 5);
  transpose(rows);
  store_pixels(rows, pair);
}

// ---- Wider rows
// ---------------------------------------------------------------------------------

SW_AVX2_INLINE __m256i widened(const std::uint8_t* from) {  // 16 samples of 16 bits
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
// Samples of 8 bits each in a register of 16: the first ones, then the others, by turns.
SW_AVX2_INLINE __m256i by_turns(__m256i even, __m256i odd) {
  return _mm256_or_si256(even, _mm256_slli_epi16(odd, 8));
}

SW_AVX2 void widen(const std::uint8_t* in, std::int64_t n, std::uint8_t* out) {
  for (std::int64_t x = 0; x < n; x += 16) {
    const __m256i samples = widened(in + x);
    store(out + 2 * x, by_turns(samples, samples));
  }
}

// out[2x] = (3 s[x] + s[x - 1] + even) >> shift, out[2x + 1] the same with s[x + 1] and `odd`.
template <int kShift>
SW_AVX2_INLINE __m256i triangles(__m256i before, __m256i here, __m256i after, int even, int odd) {
  const __m256i three = _mm256_add_epi16(here, _mm256_add_epi16(here, here));
  const __m256i first =
      _mm256_srli_epi16(_mm256_add_epi16(_mm256_add_epi16(three, before), both(even)), kShift);
  const __m256i second =
      _mm256_srli_epi16(_mm256_add_epi16(_mm256_add_epi16(three, after), both(odd)), kShift);
  return by_turns(first, second);
}

SW_AVX2 void widen_smoothly(const std::uint8_t* in, std::int64_t n, std::uint8_t* out) {
  for (std::int64_t x = 0; x < n; x += 16) {
    store(out + 2 * x,
          triangles<2>(widened(in + x - 1), widened(in + x), widened(in + x + 1), 1, 2));
  }
  out[0] = in[0];
  out[2 * n - 1] = in[n - 1];
}

SW_AVX2 void widen_two(const std::uint8_t* near, const std::uint8_t* far, std::int64_t n,
                       std::uint16_t* sums, std::uint8_t* out) {
  for (std::int64_t x = 0; x < n; x += 16) {
    const __m256i close = widened(near + x);
    store(sums + x + 1, _mm256_add_epi16(_mm256_add_epi16(close, _mm256_add_epi16(close, close)),
                                         widened(far + x)));
  }
  sums[0] = sums[1];
  sums[n + 1] = sums[n];
  for (std::int64_t x = 0; x < n; x += 16) {
    store(out + 2 * x, triangles<4>(load(sums + x), load(sums + x + 1), load(sums + x + 2), 8, 7));
  }
}

// ---- Colors
// -------------------------------------------------------------------------------------

struct Rgb {
  __m256i red;
  __m256i green;
  __m256i blue;
};

// 16 pixels of 16 bits. (a * c + 2^15) >> 16 as libjpeg has it, whose factors do not fit 16 bits:
// whole multiples of c are added behind.
SW_AVX2_INLINE Rgb colors(__m256i y, __m256i cb, __m256i cr) {
  const __m256i one = both(1);
  cb = _mm256_sub_epi16(cb, both(128));
  cr = _mm256_sub_epi16(cr, both(128));
  const __m256i cb2 = _mm256_add_epi16(cb, cb);
  const __m256i cr2 = _mm256_add_epi16(cr, cr);
  const auto rounded = [&](__m256i twice, int by) __attribute__((target("avx2"), always_inline)) {
    return _mm256_srai_epi16(_mm256_add_epi16(_mm256_mulhi_epi16(twice, both(by)), one), 1);
  };
  const __m256i red = _mm256_add_epi16(rounded(cr2, 91881 - 65536), cr);
  const __m256i blue = _mm256_add_epi16(rounded(cb2, 116130 - 2 * 65536), cb2);
  const __m256i half = _mm256_set1_epi32(1 << 15);
  const __m256i by = factors(-22554, 65536 - 46802);
  const __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), by);
  const __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), by);
  const __m256i green =
      _mm256_sub_epi16(_mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(low, half), 16),
                                          _mm256_srai_epi32(_mm256_add_epi32(high, half), 16)),
                       cr);
  return {_mm256_add_epi16(y, red), _mm256_add_epi16(y, green), _mm256_add_epi16(y, blue)};
}

// Where the bytes of three planes of 16 pixels go: plane, then third of the 48 bytes.
struct Weave {
  alignas(16) std::int8_t places[3][3][16];
};
constexpr Weave weave() {
  Weave out{};
  for (int plane = 0; plane < 3; ++plane) {
    for (int third = 0; third < 3; ++third) {
      for (int i = 0; i < 16; ++i) {
        const int byte = 16 * third + i;
        out.places[plane][third][i] = static_cast<std::int8_t>(byte % 3 == plane ? byte / 3 : -128);
      }
    }
  }
  return out;
}
constexpr Weave kWeave = weave();

// 32 pixels as 96 bytes.
SW_AVX2_INLINE void store_rgb(const Rgb& planes, std::uint8_t* out) {
#pragma GCC unroll 3
  for (std::ptrdiff_t third = 0; third < 3; ++third) {
    const auto placed = [&](__m256i plane,
                            int which) __attribute__((target("avx2"), always_inline)) {
      const auto* const places = reinterpret_cast<const __m128i*>(kWeave.places[which][third]);
      return _mm256_shuffle_epi8(plane, _mm256_broadcastsi128_si256(_mm_load_si128(places)));
    };
    const __m256i bytes = _mm256_or_si256(
        _mm256_or_si256(placed(planes.red, 0), placed(planes.green, 1)), placed(planes.blue, 2));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * third), _mm256_castsi256_si128(bytes));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 48 + 16 * third),
                     _mm256_extracti128_si256(bytes, 1));
  }
}

// Pixels 0, 2, 4, ... and 1, 3, 5, ... of 16 bits: 32 of 8.
SW_AVX2_INLINE __m256i woven(__m256i even, __m256i odd) {
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
  return _mm256_shuffle_epi8(_mm256_packus_epi16(even, odd), order);
}

SW_AVX2_INLINE Rgb rgb32(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr) {
  const __m256i bytes = both(0xFF);
  const __m256i ys = load(y);
  const __m256i cbs = load(cb);
  const __m256i crs = load(cr);
  const Rgb even = colors(_mm256_and_si256(ys, bytes), _mm256_and_si256(cbs, bytes),
                          _mm256_and_si256(crs, bytes));
  const Rgb odd =
      colors(_mm256_srli_epi16(ys, 8), _mm256_srli_epi16(cbs, 8), _mm256_srli_epi16(crs, 8));
  return {woven(even.red, odd.red), woven(even.green, odd.green), woven(even.blue, odd.blue)};
}

// What is left of a row, by way of a room of its own.
SW_AVX2_INLINE void store_some(const Rgb& planes, std::int64_t n, std::uint8_t* out) {
  std::array<std::uint8_t, 96> room;
  store_rgb(planes, room.data());
  std::memcpy(out, room.data(), static_cast<std::size_t>(3 * n));
}

SW_AVX2 void to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                    std::int64_t n, std::uint8_t* out) {
  std::int64_t x = 0;
  for (; x + 32 <= n; x += 32) store_rgb(rgb32(y + x, cb + x, cr + x), out + 3 * x);
  if (x < n) store_some(rgb32(y + x, cb + x, cr + x), n - x, out + 3 * x);
}

SW_AVX2 void gray_to_rgb(const std::uint8_t* y, std::int64_t n, std::uint8_t* out) {
  std::int64_t x = 0;
  for (; x + 32 <= n; x += 32) {
    const __m256i gray = load(y + x);
    store_rgb({gray, gray, gray}, out + 3 * x);
  }
  if (x < n) {
    const __m256i gray = load(y + x);
    store_some({gray, gray, gray}, n - x, out + 3 * x);
  }
}

}  // namespace

const Kernels kAvx2Kernels = {accurate_idct, fast_idct, widen,      widen_smoothly,
                              widen_two,     to_rgb,    gray_to_rgb};

}  // namespace spillway::jpeg

#endif
