#include "spillway/io/crc32c.h"

#include <array>
#include <cstring>

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

#endif

}  // namespace

std::uint32_t internal::portable_crc32c(std::span<const std::byte> bytes) {
  return ~by_tables(~0U, bytes.data(), bytes.size());
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  static const bool kInstruction = __builtin_cpu_supports("sse4.2") != 0;
  if (kInstruction) return ~by_instruction(~0U, bytes.data(), bytes.size());
#endif
  return internal::portable_crc32c(bytes);
}

}  // namespace spillway
