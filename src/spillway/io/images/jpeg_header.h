#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spillway/io/images/image.h"

// What stands before the picture of a plain JPEG file.
namespace spillway::jpeg {

inline constexpr int kBlockItems = 64;
// The place of each coefficient in its block, in the order of the file.
inline constexpr std::array<std::uint8_t, kBlockItems> kZigzag = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// A Huffman code as a file describes it.
struct HuffmanCode {
  std::array<std::uint8_t, 17> counts{};    // [n]: codes of n bits
  std::array<std::uint8_t, 256> symbols{};  // in the order of their codes
  bool defined = false;
  bool operator==(const HuffmanCode&) const = default;
};

struct Component {
  std::uint8_t id = 0;
  int across = 1;  // blocks of this component in a unit of the scan
  int down = 1;
  std::uint8_t quant = 0;  // which of the tables below
  std::uint8_t dc = 0;
  std::uint8_t ac = 0;
};

struct Header {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int count = 0;  // of components: 1 (gray) or 3 (YCbCr)
  std::array<Component, 3> components{};
  std::array<std::array<std::uint16_t, kBlockItems>, 4> quants{};  // not in zigzag order
  std::array<bool, 4> has_quant{};
  std::array<HuffmanCode, 4> dc{};
  std::array<HuffmanCode, 4> ac{};
  std::uint32_t restart_interval = 0;  // units between two marks; 0: none
  std::size_t scan = 0;                // where the entropy-coded bytes begin
};

// True: 8 bits, baseline, Huffman, one scan of all components, gray or YCbCr with color as fine as
// brightness, half as wide, or half as wide and high; and nothing libjpeg would remark on so far.
// False says nothing about the file.
bool read_header(ImageBytes bytes, Header& header);

}  // namespace spillway::jpeg
