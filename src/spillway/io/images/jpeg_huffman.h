#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spillway/io/images/jpeg_header.h"

// The entropy decoder: coefficients out of bits. Every symbol waits for the one before it, which
// leaves most of a core idle; so up to kMostLanes images advance by turns, a symbol each.
namespace spillway::jpeg {

inline constexpr int kMostLanes = 4;

// A code made ready.
class HuffmanTable {
 public:
  static constexpr unsigned kBits = 10;  // longer codes are rare
  // Steps that leave the block: to its end, because of a code that is none, or of one too long.
  static constexpr unsigned kEndOfBlock = 128;
  static constexpr unsigned kBadCode = 64;
  static constexpr unsigned kTooLong = 255;

  // False: the code overlaps itself, or has symbols no baseline encoder writes.
  bool build(const HuffmanCode& code, bool dc);

  // What `window` begins with. From the lowest byte: the bits of code and value together, the bits
  // of the value, and how many coefficients it goes on.
  std::uint32_t find(std::uint64_t window) const;

  // The same for two symbols with their values, where these are not more than kBits together; for
  // one, which then comes twice; or kTooLong for it. From the lowest byte: the bits of both, the
  // step of the first, that of the second (0: none), the bits of the first, and in 16 bits each the
  // values. Not for DC.
  std::uint64_t find_two(std::uint64_t window) const { return pairs_[window >> (64 - kBits)]; }

 private:
  void build_pairs();

  static constexpr std::size_t kEntries = std::size_t{1} << kBits;
  std::array<std::uint64_t, kEntries> pairs_;
  std::array<std::uint32_t, kEntries> entries_;  // 0: a longer code, or none
  std::array<std::uint32_t, 17> ends_;   // [n]: past the last code of n bits, of 16 bits then
  std::array<std::int32_t, 17> places_;  // [n]: what to add to such a code for its entry
  std::array<std::uint32_t, 256> all_;
};

// The blocks of a unit, in order.
struct UnitBlock {
  const HuffmanTable* dc = nullptr;
  const HuffmanTable* ac = nullptr;
  std::uint8_t component = 0;
};
inline constexpr std::size_t kMostUnitBlocks = 6;

// Where the decoding of an image is. start() and next_band() set it up.
struct Lane {
  std::uint64_t at = 0;   // bits from address 0: one register instead of three
  std::uint64_t end = 0;  // of the part
  std::int16_t* block = nullptr;
  const HuffmanTable* ac = nullptr;
  std::uint64_t index = 0;  // of the last coefficient

  std::uint8_t* last = nullptr;   // for each block of the band: its last coefficient's index
  std::uint32_t blocks_left = 0;  // of the band
  std::uint32_t slot = 0;         // in the unit
  std::uint32_t unit_blocks = 0;
  std::uint32_t units_left = 0;  // before a restart mark
  std::uint32_t restart_interval = 0;
  std::array<int, 3> predicted{};
  std::array<UnitBlock, kMostUnitBlocks> unit{};
  bool failed = false;     // for a reason that libjpeg may judge
  bool left_over = false;  // because coded bytes are left before a mark
};

// The scan as unstuff() left it. `unit`, `unit_blocks`, `restart_interval` are there.
void start(Lane& lane, const std::uint8_t* scan);
// Room for `blocks` blocks that are zero, one more that is anything, and a byte for each. False:
// failed.
bool next_band(Lane& lane, std::int16_t* room, std::uint8_t* last, std::uint32_t blocks);
// After the last band: whether the scan was used up. If not, because it was too short or because
// coded bytes are left (`left_over`).
bool at_end(Lane& lane);
// Where the next bits are, in bytes behind the scan's beginning as unstuff() left it.
std::size_t place_of(const Lane& lane, const std::uint8_t* scan);

// Decodes until a lane's band is complete or it failed; gives its number. 1 to kMostLanes lanes,
// each with a band that is not complete.
int decode(Lane* const* lanes, int count);
// The same without instructions newer than x86-64's first.
int decode_baseline(Lane* const* lanes, int count);

}  // namespace spillway::jpeg
