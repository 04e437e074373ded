#include "spillway/io/images/jpeg_scan.h"

#include <algorithm>
#include <cstring>

namespace spillway::jpeg {

std::size_t unstuffed_bytes(std::size_t stuffed, std::size_t parts) {
  // A mark of two bytes gives way to a length of four.
  return stuffed + kPartHeader + 2 * std::min(parts, stuffed / 2) + kScanSlack;
}

bool unstuff(ImageBytes bytes, std::size_t parts, std::uint8_t* to) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const std::uint8_t* const end = at + bytes.size();
  std::uint8_t* part = to;
  to += kPartHeader;
  std::size_t ended = 0;
  while (end - at >= 2) {
    const auto left = static_cast<std::size_t>(end - at) - 1;  // a mark needs one byte more
    const auto* const mark = static_cast<const std::uint8_t*>(std::memchr(at, 0xFF, left));
    if (mark == nullptr) return false;
    const auto plain = static_cast<std::size_t>(mark - at);
    std::memcpy(to, at, plain);
    to += plain;
    at = mark + 2;
    const unsigned kind = mark[1];
    if (kind == 0) {
      *to++ = 0xFF;
      continue;
    }
    if (kind == 0xFF) {  // one that fills up, before the mark's own
      --at;
      continue;
    }
    const auto length = static_cast<std::uint32_t>(to - part - kPartHeader);
    std::memcpy(part, &length, kPartHeader);
    ++ended;
    if (kind == 0xD9) {
      std::memset(to, 0, kScanSlack);
      return ended == parts;
    }
    if (ended >= parts || kind != 0xD0 + ((ended - 1) & 7U)) return false;
    part = to;
    to += kPartHeader;
  }
  return false;
}

std::size_t stuffed_place(ImageBytes bytes, std::size_t place) {
  std::size_t at = 0;
  for (std::size_t passed = kPartHeader; passed < place && at + 1 < bytes.size();) {
    const bool escape = bytes[at] == std::byte{0xFF};
    if (escape && bytes[at + 1] == std::byte{0xFF}) {
      ++at;
      continue;
    }
    passed += escape && bytes[at + 1] != std::byte{} ? kPartHeader : 1;
    at += escape ? 2 : 1;
  }
  return at;
}

}  // namespace spillway::jpeg
