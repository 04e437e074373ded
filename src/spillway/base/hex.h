#pragma once

#include <string>
#include <string_view>

namespace spillway {

// "0x0A 0xFF": how errors show bytes.
inline std::string in_hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!out.empty()) out += ' ';
    out += {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
  }
  return out;
}

}  // namespace spillway
