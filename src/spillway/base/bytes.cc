#include "spillway/base/bytes.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace spillway {

std::string format_bytes(std::size_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000.0 && unit + 1 < std::size(kUnits)) {
    value /= 1024.0;
    ++unit;
  }
  char text[48];
  if (unit == 0 || value >= 99.95) {
    std::snprintf(text, sizeof text, "%.0f %s", value, kUnits[unit]);
  } else {
    std::snprintf(text, sizeof text, value >= 9.995 ? "%.1f %s" : "%.2f %s", value, kUnits[unit]);
  }
  return text;
}

Result<std::size_t> parse_bytes(std::string_view text) {
  const std::string_view whole = text;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit;
  for (const char c : std::string_view(end, text.data() + text.size() - end)) {
    if (!std::isspace(static_cast<unsigned char>(c))) {
      unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  if (unit.ends_with("ib")) {
    unit.resize(unit.size() - 2);
    unit += 'i';
  } else if (unit.ends_with('b')) {
    unit.pop_back();
  }
  // "2g" is meant as people say it: binary. "2gb" as well: memory is never sold in 10^9.
  static constexpr std::string_view kPrefixes = "kmgt";
  double scale = 1;
  bool known = unit.empty();
  if (!unit.empty() && unit.size() <= 2 && (unit.size() == 1 || unit[1] == 'i')) {
    const auto at = kPrefixes.find(unit[0]);
    known = at != std::string_view::npos;
    if (known) scale = std::pow(1024.0, static_cast<double>(at + 1));
  }
  if (error != std::errc() || !known || !(value > 0) || value * scale >= 9.2e18) {
    return invalid_argument("memory size: want a number with an optional unit, like \"2GiB\": \"",
                            whole, "\"");
  }
  return static_cast<std::size_t>(value * scale);
}

namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
    table[i] = crc;
  }
  return table;
}
constexpr auto kTable = make_table();

std::uint32_t crc_portable(const unsigned char* p, std::size_t n, std::uint32_t crc) {
  for (std::size_t i = 0; i < n; ++i) crc = kTable[(crc ^ p[i]) & 0xff] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc_sse42(const unsigned char* p, std::size_t n,
                                                          std::uint32_t crc) {
  std::uint64_t wide = crc;
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (; n > 0; --n, ++p) crc = _mm_crc32_u8(crc, *p);
  return crc;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
#if defined(__x86_64__)
  static const bool kFast = __builtin_cpu_supports("sse4.2") != 0;
  if (kFast) return ~crc_sse42(p, bytes.size(), ~seed);
#endif
  return ~crc_portable(p, bytes.size(), ~seed);
}

}  // namespace spillway
