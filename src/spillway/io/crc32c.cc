#include "spillway/io/crc32c.h"

#include <array>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace spillway {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78U;  // reflected
using Table = std::array<std::uint32_t, 256>;

// Entry b of table k: byte b followed by k zero bytes.
constexpr std::array<Table, 8> byte_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0);
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::uint32_t b = 0; b < 256; ++b) {
      const std::uint32_t before = tables[k - 1][b];
      tables[k][b] = (before >> 8U) ^ tables[0][before & 0xffU];
    }
  }
  return tables;
}
constexpr std::array<Table, 8> kTables = byte_tables();

std::uint64_t load(const std::byte* from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint32_t by_tables(std::uint32_t crc, const std::byte* at, std::size_t n) {
  for (; n >= 8; at += 8, n -= 8) {
    const std::uint64_t word = load(at) ^ crc;
    crc = 0;
    for (unsigned k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xffU];
  }
  for (; n > 0; ++at, --n) {
    crc = (crc >> 8U) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(*at)) & 0xffU];
  }
  return crc;
}

#if defined(__x86_64__)

// The state after kRun zero bytes, by the bytes of the state: states are added without carry.
constexpr std::size_t kRun = 1024;
using Shift = std::array<Table, 4>;
Shift make_shift() {
  Shift shift{};
  const std::array<std::byte, kRun> zeros{};
  for (unsigned k = 0; k < 4; ++k) {
    for (std::uint32_t b = 0; b < 256; ++b) {
      shift[k][b] = by_tables(b << (8 * k), zeros.data(), kRun);
    }
  }
  return shift;
}

std::uint32_t shifted(const Shift& shift, std::uint64_t state) {
  return shift[0][state & 0xffU] ^ shift[1][(state >> 8U) & 0xffU] ^
         shift[2][(state >> 16U) & 0xffU] ^ shift[3][(state >> 24U) & 0xffU];
}

[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::uint32_t crc, const std::byte* at,
                                                       std::size_t n) {
  static const Shift kShift = make_shift();
  std::uint64_t state = crc;
  for (; n >= 3 * kRun; at += 3 * kRun, n -= 3 * kRun) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kRun; i += 8) {
      state = _mm_crc32_u64(state, load(at + i));
      second = _mm_crc32_u64(second, load(at + kRun + i));
      third = _mm_crc32_u64(third, load(at + 2 * kRun + i));
    }
    state = shifted(kShift, shifted(kShift, state) ^ second) ^ third;
  }
  for (; n >= 8; at += 8, n -= 8) state = _mm_crc32_u64(state, load(at));
  auto last = static_cast<std::uint32_t>(state);
  for (; n > 0; ++at, --n) last = _mm_crc32_u8(last, static_cast<unsigned char>(*at));
  return last;
}

// x to the power n, modulo the polynomial; reflected.
constexpr std::int64_t power(unsigned n) {
  std::uint32_t out = 0x80000000U;
  for (; n > 0; --n) out = (out >> 1U) ^ ((out & 1U) != 0 ? kPolynomial : 0);
  return out;
}

// The two ways below use different parts of the CPU: together they make twice of what each makes.
#define SW_VECTORS gnu::target("avx2,vpclmulqdq,pclmul,sse4.2")
constexpr std::size_t kVector = sizeof(__m256i);
constexpr std::size_t kLong = 4096;  // bytes of a run: what is needed to join them fades
constexpr std::size_t kShort = 128;

// Moves each 16 bytes of `x` `Bits` further and adds what is there. A product of two reflected
// halves is short of 33 powers of x: one by its own width, 32 by that of the constant.
template <unsigned Bits>
[[SW_VECTORS, gnu::always_inline]] inline __m256i folded(__m256i x, __m256i with) {
  constexpr std::int64_t kLow = power(Bits + 31);
  constexpr std::int64_t kHigh = power(Bits - 33);
  const __m256i by = _mm256_set_epi64x(kHigh, kLow, kHigh, kLow);
  const __m256i low = _mm256_clmulepi64_epi128(x, by, 0x00);
  const __m256i high = _mm256_clmulepi64_epi128(x, by, 0x11);
  return _mm256_xor_si256(_mm256_xor_si256(low, high), with);
}
[[SW_VECTORS, gnu::always_inline]] inline __m256i vector_at(const std::byte* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}
// The state after `Bytes` zero bytes.
template <std::size_t Bytes>
[[SW_VECTORS, gnu::always_inline]] inline std::uint64_t moved(std::uint64_t state) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<std::int64_t>(state)),
                                               _mm_cvtsi64_si128(power(8 * Bytes - 33)), 0x00);
  return _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product)));
}

// 7 * Run bytes: vectors fold the first four runs while the instruction goes through the others.
template <std::size_t Run>
[[SW_VECTORS]] std::uint32_t seven_runs(std::uint32_t crc, const std::byte* at) {
  constexpr std::size_t kStep = 4 * kVector;
  const std::byte* const runs = at + 4 * Run;
  __m256i a = _mm256_setzero_si256();
  __m256i b = a;
  __m256i c = a;
  __m256i d = a;
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;
  // Folded zeros are zeros: the first step only takes what is there.
  for (std::size_t i = 0; i < Run; i += kVector, at += kStep) {
    a = folded<8 * kStep>(a, vector_at(at));
    b = folded<8 * kStep>(b, vector_at(at + kVector));
    c = folded<8 * kStep>(c, vector_at(at + 2 * kVector));
    d = folded<8 * kStep>(d, vector_at(at + 3 * kVector));
    if (i == 0) {
      a = _mm256_xor_si256(a, _mm256_zextsi128_si256(_mm_cvtsi32_si128(static_cast<int>(crc))));
    }
    for (std::size_t k = i; k < i + kVector; k += 8) {
      x = _mm_crc32_u64(x, load(runs + k));
      y = _mm_crc32_u64(y, load(runs + Run + k));
      z = _mm_crc32_u64(z, load(runs + 2 * Run + k));
    }
  }
  d = folded<8 * kVector>(folded<8 * kVector>(folded<8 * kVector>(a, b), c), d);
  std::array<std::uint64_t, 4> last{};
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(last.data()), d);
  std::uint64_t state = 0;
  for (const std::uint64_t word : last) state = _mm_crc32_u64(state, word);
  return static_cast<std::uint32_t>(moved<3 * Run>(state) ^ moved<2 * Run>(x) ^ moved<Run>(y) ^ z);
}

std::uint32_t by_both(std::uint32_t crc, const std::byte* at, std::size_t n) {
  for (; n >= 7 * kLong; at += 7 * kLong, n -= 7 * kLong) crc = seven_runs<kLong>(crc, at);
  for (; n >= 7 * kShort; at += 7 * kShort, n -= 7 * kShort) crc = seven_runs<kShort>(crc, at);
  return by_instruction(crc, at, n);
}

bool can_do_both() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
}

// Vectors twice as wide need no help: the instruction would only keep them waiting for loads.
#define SW_WIDE_VECTORS gnu::target("avx512f,avx512vl,avx2,vpclmulqdq,pclmul,sse4.2")
constexpr std::size_t kWide = sizeof(__m512i);
constexpr std::size_t kAtOnce = 8;  // hides the products' latency

template <unsigned Bits>
[[SW_WIDE_VECTORS, gnu::always_inline]] inline __m512i folded(__m512i x, __m512i with) {
  const __m512i by =
      _mm512_set4_epi64(power(Bits - 33), power(Bits + 31), power(Bits - 33), power(Bits + 31));
  const __m512i low = _mm512_clmulepi64_epi128(x, by, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(x, by, 0x11);
  constexpr int kXorOfThree = 0x96;
  return _mm512_ternarylogic_epi64(low, high, with, kXorOfThree);
}

[[SW_WIDE_VECTORS]] std::uint32_t by_wide_vectors(std::uint32_t crc, const std::byte* at,
                                                  std::size_t n) {
  constexpr std::size_t kStep = kAtOnce * kWide;
  if (n < 2 * kStep) return by_both(crc, at, n);
  __m512i sums[kAtOnce];
  for (std::size_t k = 0; k < kAtOnce; ++k) sums[k] = _mm512_loadu_si512(at + k * kWide);
  const __m128i first = _mm_cvtsi32_si128(static_cast<int>(crc));
  sums[0] = _mm512_xor_si512(sums[0], _mm512_zextsi128_si512(first));
  for (at += kStep, n -= kStep; n >= kStep; at += kStep, n -= kStep) {
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      sums[k] = folded<8 * kStep>(sums[k], _mm512_loadu_si512(at + k * kWide));
    }
  }
  __m512i sum = sums[0];
  for (std::size_t k = 1; k < kAtOnce; ++k) sum = folded<8 * kWide>(sum, sums[k]);
  for (; n >= kWide; at += kWide, n -= kWide) {
    sum = folded<8 * kWide>(sum, _mm512_loadu_si512(at));
  }
  std::array<std::uint64_t, 8> last{};
  _mm512_storeu_si512(last.data(), sum);
  std::uint64_t state = 0;
  for (const std::uint64_t word : last) state = _mm_crc32_u64(state, word);
  return by_instruction(static_cast<std::uint32_t>(state), at, n);
}

bool has_wide_vectors() {
  return can_do_both() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}

#endif

std::vector<internal::Crc32cWay> usable_ways() {
  std::vector<internal::Crc32cWay> ways{by_tables};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") != 0) ways.push_back(by_instruction);
  if (can_do_both()) ways.push_back(by_both);
  if (has_wide_vectors()) ways.push_back(by_wide_vectors);
#endif
  return ways;
}

}  // namespace

std::span<const internal::Crc32cWay> internal::crc32c_ways() {
  static const std::vector<Crc32cWay> kWays = usable_ways();
  return kWays;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static const internal::Crc32cWay kFastest = internal::crc32c_ways().back();
  return internal::crc32c_by(kFastest, bytes);
}

}  // namespace spillway
