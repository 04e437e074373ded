#include "spillway/io/images/jpeg_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace spillway::jpeg {
namespace {

// As registers of 16 bits do it: overflow wraps.
std::int16_t wrap(int value) { return static_cast<std::int16_t>(value); }
std::int16_t saturate16(std::int32_t value) {
  return static_cast<std::int16_t>(std::clamp<std::int32_t>(value, -32768, 32767));
}
std::uint8_t centered(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, -128, 127) + 128);
}

using Line = std::array<std::int16_t, 8>;

// ---- The accurate transform: 13 bits of constants, sums of 32 bits
// ----------------------------------

struct Term {
  int of_first;
  int of_second;
};
// first * of_first + second * of_second, of a rotation by two products each.
std::uint32_t rotate(std::int16_t first, std::int16_t second, Term by) {
  return static_cast<std::uint32_t>(first * by.of_first) +
         static_cast<std::uint32_t>(second * by.of_second);
}

template <int kShift>
Line accurate_line(const Line& in) {
  const auto narrow = [](std::uint32_t sum) {
    return saturate16(static_cast<std::int32_t>(sum + (1U << (kShift - 1))) >> kShift);
  };
  const std::uint32_t tmp2 = rotate(in[2], in[6], {4433, 4433 - 15137});
  const std::uint32_t tmp3 = rotate(in[2], in[6], {4433 + 6270, 4433});
  const auto tmp0 = static_cast<std::uint32_t>(wrap(in[0] + in[4]) * 8192);
  const auto tmp1 = static_cast<std::uint32_t>(wrap(in[0] - in[4]) * 8192);
  const std::array<std::uint32_t, 4> even = {tmp0 + tmp3, tmp1 + tmp2, tmp1 - tmp2, tmp0 - tmp3};

  const std::int16_t z3 = wrap(in[7] + in[3]);
  const std::int16_t z4 = wrap(in[5] + in[1]);
  const std::uint32_t y3 = rotate(z3, z4, {9633 - 16069, 9633});
  const std::uint32_t y4 = rotate(z4, z3, {9633 - 3196, 9633});
  const std::array<std::uint32_t, 4> odd = {rotate(in[7], in[1], {-7373, 12299 - 7373}) + y4,
                                            rotate(in[5], in[3], {-20995, 25172 - 20995}) + y3,
                                            rotate(in[5], in[3], {16819 - 20995, -20995}) + y4,
                                            rotate(in[7], in[1], {2446 - 7373, -7373}) + y3};
  Line out{};
  for (std::size_t i = 0; i < 4; ++i) {
    out[i] = narrow(even[i] + odd[i]);
    out[7 - i] = narrow(even[i] - odd[i]);
  }
  return out;
}

// ---- The fast transform: 16 bits throughout
// -----------------------------------------------------

// a * b / 2^14 of a register that is shifted first.
std::int16_t part(std::int16_t a, int b) {
  return static_cast<std::int16_t>((wrap(a * 4) * b) >> 16);
}

Line fast_line(const Line& in) {
  constexpr int k1414 = 362 << 6;
  constexpr int k1847 = 473 << 6;
  constexpr int kMinus1613 = -(669 - 256) * 64;
  constexpr int k1082 = 277 << 6;
  const std::int16_t sum04 = wrap(in[0] + in[4]);
  const std::int16_t diff04 = wrap(in[0] - in[4]);
  const std::int16_t sum26 = wrap(in[2] + in[6]);
  const std::int16_t tmp12 = wrap(part(wrap(in[2] - in[6]), k1414) - sum26);
  const std::array<std::int16_t, 4> even = {wrap(sum04 + sum26), wrap(diff04 + tmp12),
                                            wrap(diff04 - tmp12), wrap(sum04 - sum26)};
  const std::int16_t z12 = wrap(in[1] - in[7]);
  const std::int16_t z11 = wrap(in[1] + in[7]);
  const std::int16_t z10 = wrap(in[5] - in[3]);
  const std::int16_t z13 = wrap(in[5] + in[3]);
  const std::int16_t tmp7 = wrap(z11 + z13);
  const std::int16_t tmp11 = part(wrap(z11 - z13), k1414);
  const auto z5 = static_cast<std::int16_t>((wrap(wrap(z10 * 4) + wrap(z12 * 4)) * k1847) >> 16);
  const std::int16_t tmp10 = wrap(part(z12, k1082) - z5);
  const std::int16_t tmp12b = wrap(wrap(part(z10, kMinus1613) - z10) + z5);
  const std::int16_t tmp6 = wrap(tmp12b - tmp7);
  const std::int16_t tmp5 = wrap(tmp11 - tmp6);
  const std::int16_t tmp4 = wrap(tmp10 + tmp5);
  return {wrap(even[0] + tmp7), wrap(even[1] + tmp6), wrap(even[2] + tmp5), wrap(even[3] - tmp4),
          wrap(even[3] + tmp4), wrap(even[2] - tmp5), wrap(even[1] - tmp6), wrap(even[0] - tmp7)};
}

using Square = std::array<Line, 8>;

// Rows of `quants` are two blocks' by turns.
Square dequantized(const std::int16_t* block, const std::int16_t* quants) {
  Square out{};
  for (std::size_t y = 0; y < 8; ++y) {
    for (std::size_t x = 0; x < 8; ++x) out[y][x] = wrap(block[8 * y + x] * quants[16 * y + x]);
  }
  return out;
}

template <class Transform>
Square down_columns(const Square& in, Transform transform) {
  Square out{};
  for (std::size_t x = 0; x < 8; ++x) {
    Line column{};
    for (std::size_t y = 0; y < 8; ++y) column[y] = in[y][x];
    column = transform(column);
    for (std::size_t y = 0; y < 8; ++y) out[y][x] = column[y];
  }
  return out;
}

bool has_one_row(const std::int16_t* block) {
  return std::all_of(block + 8, block + kBlockItems, [](std::int16_t c) { return c == 0; });
}

void accurate_block(const std::int16_t* block, const std::int16_t* quants, std::uint8_t* to,
                    std::ptrdiff_t stride) {
  Square square = dequantized(block, quants);
  if (has_one_row(block)) {
    // libjpeg's short way wraps where the long one saturates.
    for (std::size_t x = 0; x < 8; ++x) square[0][x] = wrap(square[0][x] * 4);
    square.fill(Line(square[0]));
  } else {
    square = down_columns(square, accurate_line<11>);
  }
  for (const Line& row : square) {
    const Line line = accurate_line<18>(row);
    for (std::size_t x = 0; x < 8; ++x) to[x] = centered(line[x]);
    to += stride;
  }
}

void fast_block(const std::int16_t* block, const std::int16_t* quants, std::uint8_t* to,
                std::ptrdiff_t stride) {
  const Square square = down_columns(dequantized(block, quants), fast_line);
  for (const Line& row : square) {
    const Line line = fast_line(row);
    for (std::size_t x = 0; x < 8; ++x) to[x] = centered(line[x] >> 5);
    to += stride;
  }
}

void accurate_idct(const BlockPair& pair, const QuantPair& quants) {
  for (std::size_t i = 0; i < 2; ++i) {
    accurate_block(pair.blocks[i], quants.data() + 8 * i, pair.to[i], pair.stride);
  }
}
void fast_idct(const BlockPair& pair, const QuantPair& quants) {
  for (std::size_t i = 0; i < 2; ++i) {
    fast_block(pair.blocks[i], quants.data() + 8 * i, pair.to[i], pair.stride);
  }
}

// ---- Wider rows
// ---------------------------------------------------------------------------------

void widen(const std::uint8_t* in, std::int64_t n, std::uint8_t* out) {
  for (std::int64_t x = 0; x < n; ++x) out[2 * x] = out[2 * x + 1] = in[x];
}

void widen_smoothly(const std::uint8_t* in, std::int64_t n, std::uint8_t* out) {
  for (std::int64_t x = 0; x < n; ++x) {
    const int before = in[x > 0 ? x - 1 : x];
    const int after = in[x + 1 < n ? x + 1 : x];
    out[2 * x] = static_cast<std::uint8_t>((3 * in[x] + before + 1) >> 2);
    out[2 * x + 1] = static_cast<std::uint8_t>((3 * in[x] + after + 2) >> 2);
  }
}

void widen_two(const std::uint8_t* near, const std::uint8_t* far, std::int64_t n,
               std::uint16_t* sums, std::uint8_t* out) {
  for (std::int64_t x = 0; x < n; ++x)
    sums[x + 1] = static_cast<std::uint16_t>(3 * near[x] + far[x]);
  sums[0] = sums[1];
  sums[n + 1] = sums[n];
  for (std::int64_t x = 0; x < n; ++x) {
    const int middle = 3 * sums[x + 1];
    out[2 * x] = static_cast<std::uint8_t>((middle + sums[x] + 8) >> 4);
    out[2 * x + 1] = static_cast<std::uint8_t>((middle + sums[x + 2] + 7) >> 4);
  }
}

// ---- Colors
// -------------------------------------------------------------------------------------

std::uint8_t limited(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

void to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::int64_t n,
            std::uint8_t* out) {
  constexpr int kHalf = 1 << 15;
  for (std::int64_t x = 0; x < n; ++x, out += 3) {
    const int blue = cb[x] - 128;
    const int red = cr[x] - 128;
    out[0] = limited(y[x] + ((91881 * red + kHalf) >> 16));
    out[1] = limited(y[x] + ((-22554 * blue - 46802 * red + kHalf) >> 16));
    out[2] = limited(y[x] + ((116130 * blue + kHalf) >> 16));
  }
}

void gray_to_rgb(const std::uint8_t* y, std::int64_t n, std::uint8_t* out) {
  for (std::int64_t x = 0; x < n; ++x, out += 3) out[0] = out[1] = out[2] = y[x];
}

// Multiplied in by the fast transform: cosines, of 14 bits.
constexpr std::array<std::uint16_t, kBlockItems> kFastScales = {
    16384, 22725, 21407, 19266, 16384, 12873, 8867,  4520,  //
    22725, 31521, 29692, 26722, 22725, 17855, 12299, 6270,  //
    21407, 29692, 27969, 25172, 21407, 16819, 11585, 5906,  //
    19266, 26722, 25172, 22654, 19266, 15137, 10426, 5315,  //
    16384, 22725, 21407, 19266, 16384, 12873, 8867,  4520,  //
    12873, 17855, 16819, 15137, 12873, 10114, 6967,  3552,  //
    8867,  12299, 11585, 10426, 8867,  6967,  4799,  2446,  //
    4520,  6270,  5906,  5315,  4520,  3552,  2446,  1247};

template <class Scale>
QuantPair paired(const std::array<std::uint16_t, kBlockItems>& quants, Scale scale) {
  QuantPair out{};
  for (std::size_t i = 0; i < quants.size(); ++i) {
    const std::size_t place = i / 8 * 16 + i % 8;
    out[place] = out[place + 8] = static_cast<std::int16_t>(scale(i, quants[i]));
  }
  return out;
}

}  // namespace

QuantPair accurate_quants(const std::array<std::uint16_t, kBlockItems>& quants) {
  return paired(quants, [](std::size_t /*i*/, int quant) { return quant; });
}
QuantPair fast_quants(const std::array<std::uint16_t, kBlockItems>& quants) {
  return paired(
      quants, [](std::size_t i, int quant) { return (quant * kFastScales[i] + (1 << 11)) >> 12; });
}

std::uint8_t accurate_mean(int dc, int quant) {
  return centered((wrap(wrap(dc * quant) * 4) + 16) >> 5);
}
std::uint8_t fast_mean(int dc, int quant) { return centered(wrap(dc * quant) >> 5); }

const Kernels kPlainKernels = {accurate_idct, fast_idct, widen,      widen_smoothly,
                               widen_two,     to_rgb,    gray_to_rgb};

const Kernels& best_kernels() {
#if defined(__x86_64__)
  static const bool kWide = [] {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, before anything could change it
    const char* const asked = std::getenv("SPILLWAY_SIMD");
    const bool lowered = asked != nullptr && std::string_view(asked) == "baseline";
    return !lowered && __builtin_cpu_supports("avx2");
  }();
  if (kWide) return kAvx2Kernels;
#endif
  return kPlainKernels;
}

}  // namespace spillway::jpeg
