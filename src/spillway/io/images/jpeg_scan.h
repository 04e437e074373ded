#pragma once

#include <cstddef>
#include <cstdint>

#include "spillway/io/images/image.h"

// The entropy-coded bytes of a scan, without the zeros that stand behind each 0xFF, and cut at the
// restart marks. Part after part: four bytes of length, the bytes.
namespace spillway::jpeg {

// A decoder may read so far past a part's end before it sees that it did. A block has at most 1,665
// bits, and is looked for in words of 8 bytes.
inline constexpr std::size_t kScanSlack = 256;
inline constexpr std::size_t kPartHeader = 4;

// Bytes that unstuff() may write.
std::size_t unstuffed_bytes(std::size_t stuffed, std::size_t parts);

// False: not so many parts with the marks in order and the end of the image behind them. `to` has
// room for unstuffed_bytes(bytes.size(), parts); the slack behind the last part is cleared.
bool unstuff(ImageBytes bytes, std::size_t parts, std::uint8_t* to);

// Where in `bytes` the byte lies that unstuff() put `place` bytes behind its beginning.
std::size_t stuffed_place(ImageBytes bytes, std::size_t place);

}  // namespace spillway::jpeg
