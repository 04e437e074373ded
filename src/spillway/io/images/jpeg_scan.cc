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

}  // namespace spillway::jpeg
