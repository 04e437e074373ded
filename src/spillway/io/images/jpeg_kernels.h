#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spillway/io/images/jpeg_header.h"

// From coefficients to pixels, with exactly libjpeg-turbo's results: what its vector code gives,
// also where numbers overflow. Every way here gives the same bits.
namespace spillway::jpeg {

// Reads past the end of a row of samples, or of what is made of them, that kernels may do, and
// writes where the room is not the caller's pixels.
inline constexpr std::size_t kRowSlack = 64;

// Multipliers of two blocks' coefficients: rows of eight, of the one block and the other by turns.
using QuantPair = std::array<std::int16_t, 2UL * kBlockItems>;

// Two blocks of coefficients, which may be the same, and where their pixels go.
struct BlockPair {
  std::array<const std::int16_t*, 2> blocks;
  std::array<std::uint8_t*, 2> to;
  std::ptrdiff_t stride;
};

struct Kernels {
  void (*accurate_idct)(const BlockPair& pair, const QuantPair& quants);
  void (*fast_idct)(const BlockPair& pair, const QuantPair& quants);

  // A row twice as wide as `n` samples: each one twice, or with triangles around them.
  void (*widen)(const std::uint8_t* in, std::int64_t n, std::uint8_t* out);
  void (*widen_smoothly)(const std::uint8_t* in, std::int64_t n, std::uint8_t* out);
  // The same of 3/4 `near` and 1/4 `far`. `sums` has room for n + 2 items and the slack.
  void (*widen_two)(const std::uint8_t* near, const std::uint8_t* far, std::int64_t n,
                    std::uint16_t* sums, std::uint8_t* out);

  // `n` pixels; writes nothing behind them.
  void (*to_rgb)(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                 std::int64_t n, std::uint8_t* out);
  void (*gray_to_rgb)(const std::uint8_t* y, std::int64_t n, std::uint8_t* out);
};

extern const Kernels kPlainKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
#endif
// The machine's best, at most SPILLWAY_SIMD where that is set.
const Kernels& best_kernels();

// Multipliers for a component's table, as the two transforms want them.
QuantPair accurate_quants(const std::array<std::uint16_t, kBlockItems>& quants);
QuantPair fast_quants(const std::array<std::uint16_t, kBlockItems>& quants);

// The pixels of a block that has nothing but its mean.
std::uint8_t accurate_mean(int dc, int quant);
std::uint8_t fast_mean(int dc, int quant);

}  // namespace spillway::jpeg
