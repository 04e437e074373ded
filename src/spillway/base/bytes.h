#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "spillway/base/status.h"

namespace spillway {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr std::size_t kGiB = 1024 * kMiB;

// "1.5 MiB": three significant digits, binary units.
std::string format_bytes(std::size_t bytes);

// "2GiB", "512 MB", "1.5g", "1048576": decimal and binary units, as people write them.
Result<std::size_t> parse_bytes(std::string_view text);

// CRC-32C (Castagnoli), as spilled records carry it.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

// 64-bit FNV-1a for hashes of specs; stable across machines and versions.
class Fnv64 {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) {
      hash_ ^= static_cast<unsigned char>(c);
      hash_ *= 0x100000001b3ULL;
    }
  }
  void add(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) {
      hash_ ^= (value >> (8 * i)) & 0xff;
      hash_ *= 0x100000001b3ULL;
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace spillway
