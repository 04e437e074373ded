#include "spillway/base/utf8.h"

#include <cstring>

namespace spillway {

Utf8Character utf8_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[i])};
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const int more = lead >= 0xF0 && lead <= 0xF4   ? 3
                   : lead >= 0xE0 && lead <= 0xEF ? 2
                   : lead >= 0xC2 && lead <= 0xDF ? 1
                                                  : 0;
  Utf8Character out;
  if (more == 0) return out;
  std::uint32_t code = lead & (0x3FU >> more);
  for (int i = 0; i < more; ++i, ++out.bytes) {
    if (out.bytes == text.size()) {
      out.cut = true;
      return out;
    }
    const std::uint32_t next = byte(out.bytes);
    // The second byte is narrower after some leads.
    const std::uint32_t least = i > 0 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint32_t most = i > 0 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (next < least || next > most) return out;
    code = code << 6U | (next & 0x3FU);
  }
  out.code = code;
  out.good = true;
  return out;
}

void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out +=
      static_cast<char>((0xFF00U >> static_cast<unsigned>(more + 1) & 0xFFU) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80U | (code >> (6 * i) & 0x3FU));
}

std::size_t ascii_length(std::string_view text) {
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  std::size_t at = 0;
  for (std::uint64_t some = 0; at + sizeof(some) <= text.size(); at += sizeof(some)) {
    std::memcpy(&some, text.data() + at, sizeof(some));
    if ((some & kHigh) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace spillway
