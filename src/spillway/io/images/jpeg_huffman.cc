#include "spillway/io/images/jpeg_huffman.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "spillway/io/images/jpeg_scan.h"

namespace spillway::jpeg {
namespace {

constexpr unsigned kMostDcBits = 11;
constexpr unsigned kMostAcBits = 10;

// 0: none that an encoder of 8-bit images writes.
std::uint32_t entry_of(unsigned bits, unsigned symbol, bool dc) {
  const unsigned size = dc ? symbol : symbol & 15U;
  const unsigned run = dc ? 0 : symbol >> 4U;
  if (size > (dc ? kMostDcBits : kMostAcBits)) return 0;
  unsigned step = run + 1;
  if (!dc && size == 0) {
    if (run != 0 && run != 15) return 0;
    step = run == 15 ? 16 : HuffmanTable::kEndOfBlock;
  }
  return (bits + size) | size << 8U | step << 16U;
}
constexpr std::uint32_t kBad = HuffmanTable::kBadCode << 16U;

// Coefficients behind the end of a block go to the place behind it.
constexpr std::array<std::uint8_t, 320> places() {
  std::array<std::uint8_t, 320> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i < 64 ? kZigzag[i] : kBlockItems;
  return out;
}
constexpr std::array<std::uint8_t, 320> kPlaces = places();

[[gnu::always_inline]] inline std::uint64_t window_at(std::uint64_t at) {
  std::uint64_t word = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): see Lane::at
  std::memcpy(&word, reinterpret_cast<const void*>(at >> 3U), sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  return word << (at & 7U);
}

[[gnu::always_inline]] inline unsigned bits_of(std::uint32_t entry) { return entry & 0xFFU; }

// The value in the last bits of the entry that `window` begins with.
[[gnu::always_inline]] inline int value_of(std::uint64_t window, std::uint32_t entry) {
  const unsigned size = entry >> 8U & 0xFFU;
  const auto last = static_cast<std::uint32_t>(window >> ((0 - entry) & 63U));
  const std::uint32_t bits = last & ((1U << size) - 1);
  // A first bit of 0 means a negative value. Without a branch: it is as often the one as the other.
  const std::uint32_t negative = (2 * bits >> size) ^ 1U;
  return static_cast<int>(bits + negative - (negative << size));
}

void open_part(Lane& lane, const std::uint8_t* part) {
  std::uint32_t length = 0;
  std::memcpy(&length, part, sizeof length);
  lane.at = std::uint64_t{reinterpret_cast<std::uintptr_t>(part + kPartHeader)} * 8;
  lane.end = lane.at + std::uint64_t{length} * 8;
  lane.predicted = {};
  lane.units_left = lane.restart_interval;
}

// A part that is used up leaves less than a byte.
bool used_up(Lane& lane) {
  lane.left_over = lane.at + 8 <= lane.end;
  return lane.at <= lane.end && !lane.left_over;
}

[[gnu::noinline]] bool restart(Lane& lane) {
  if (!used_up(lane)) return false;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  open_part(lane, reinterpret_cast<const std::uint8_t*>(lane.end >> 3U));
  return true;
}

// What a lane's turns change all the time, in registers.
struct Turn {
  std::uint64_t at;
  std::uint64_t index;
  std::int16_t* block;
  const HuffmanTable* ac;
};

// The first coefficient of the block at turn.block.
[[gnu::always_inline]] inline bool begin_block(Lane& lane, Turn& turn) {
  if (lane.slot == lane.unit_blocks) [[unlikely]] {
    lane.slot = 0;
    if (lane.restart_interval != 0 && --lane.units_left == 0) {
      lane.at = turn.at;
      if (!restart(lane)) return false;
      turn.at = lane.at;
    }
  }
  const UnitBlock& kind = lane.unit[lane.slot++];
  const std::uint64_t window = window_at(turn.at);
  const std::uint32_t entry = kind.dc->find(window);
  const int dc = lane.predicted[kind.component] + value_of(window, entry);
  lane.predicted[kind.component] = dc;
  *turn.block = static_cast<std::int16_t>(dc);
  turn.at += bits_of(entry);
  turn.index = 0;
  turn.ac = kind.ac;
  return dc == *turn.block && entry != kBad;
}

// A symbol that find_two() has no room for. True: the block goes on.
[[gnu::always_inline]] inline bool step(Turn& turn) {
  const std::uint64_t window = window_at(turn.at);
  const std::uint32_t entry = turn.ac->find(window);
  turn.at += bits_of(entry);
  turn.index = turn.index - HuffmanTable::kTooLong + (entry >> 16U);
  turn.block[kPlaces[turn.index]] = static_cast<std::int16_t>(value_of(window, entry));
  return turn.index < 63;
}

// After symbols that left the block. False: the band is complete, or the lane failed.
[[gnu::always_inline]] inline bool leave_block(Lane& lane, Turn& turn, std::uint64_t two) {
  const std::uint64_t second = two >> 16U & 0xFFU;
  if (turn.index >= HuffmanTable::kTooLong) {
    if (step(turn)) return true;
  } else if (second != 0 && turn.index - second >= 63) {
    // The first one was the last of the block: the other was none.
    turn.index -= second;
    turn.at = turn.at - (two & 0xFFU) + (two >> 24U & 0xFFU);
  }
  *lane.last++ = static_cast<std::uint8_t>(turn.index & 127U);
  turn.block += kBlockItems;
  --lane.blocks_left;
  const bool whole = turn.index == 63 || turn.index >= HuffmanTable::kEndOfBlock;
  if (!whole || turn.at > lane.end) [[unlikely]] {
    lane.failed = true;
    return false;
  }
  if (lane.blocks_left == 0) [[unlikely]]
    return false;
  if (!begin_block(lane, turn)) [[unlikely]] {
    lane.failed = true;
    return false;
  }
  return true;
}

// So many look-ups are in a window for certain, and a lane may go on so long without the others.
constexpr int kLookUps = 3;

// Some symbols. False: as above.
[[gnu::always_inline]] inline bool advance(Lane& lane, Turn& turn) {
  std::uint64_t window = window_at(turn.at);
#pragma GCC unroll 4
  for (int i = 0; i < kLookUps; ++i) {
    const std::uint64_t two = turn.ac->find_two(window);
    turn.at += two & 0xFFU;
    turn.index += two >> 8U & 0xFFU;
    turn.block[kPlaces[turn.index]] = static_cast<std::int16_t>(two >> 32U);
    turn.index += two >> 16U & 0xFFU;
    turn.block[kPlaces[turn.index]] = static_cast<std::int16_t>(two >> 48U);
    if (turn.index >= 63) [[unlikely]]
      return leave_block(lane, turn, two);
    window <<= two & 63U;
  }
  return true;
}

[[gnu::always_inline]] inline Turn resume(const Lane& lane) {
  return {lane.at, lane.index, lane.block, lane.ac};
}
[[gnu::always_inline]] inline void suspend(Lane& lane, const Turn& turn) {
  lane.at = turn.at;
  lane.index = turn.index;
  lane.block = turn.block;
  lane.ac = turn.ac;
}

// Written out, as compilers keep no array of these in registers.
template <int kCount>
[[gnu::always_inline]] inline int run(Lane* const* lanes) {
  Turn a = resume(*lanes[0]);
  Turn b = resume(*lanes[kCount > 1 ? 1 : 0]);
  Turn c = resume(*lanes[kCount > 2 ? 2 : 0]);
  Turn d = resume(*lanes[kCount > 3 ? 3 : 0]);
  int which = 0;
  for (;;) {
    if (!advance(*lanes[0], a)) break;
    if constexpr (kCount > 1) {
      if (!advance(*lanes[1], b)) {
        which = 1;
        break;
      }
    }
    if constexpr (kCount > 2) {
      if (!advance(*lanes[2], c)) {
        which = 2;
        break;
      }
    }
    if constexpr (kCount > 3) {
      if (!advance(*lanes[3], d)) {
        which = 3;
        break;
      }
    }
  }
  suspend(*lanes[0], a);
  if constexpr (kCount > 1) suspend(*lanes[1], b);
  if constexpr (kCount > 2) suspend(*lanes[2], c);
  if constexpr (kCount > 3) suspend(*lanes[3], d);
  return which;
}

[[gnu::always_inline]] inline int run_any(Lane* const* lanes, int count) {
  switch (count) {
    case 1:
      return run<1>(lanes);
    case 2:
      return run<2>(lanes);
    case 3:
      return run<3>(lanes);
    default:
      return run<4>(lanes);
  }
}

#if defined(__x86_64__)
[[gnu::target("bmi,bmi2,movbe")]] int decode_bmi(Lane* const* lanes, int count) {
  return run_any(lanes, count);
}
#endif

}  // namespace

bool HuffmanTable::build(const HuffmanCode& code, bool dc) {
  entries_.fill(0);
  std::uint32_t next = 0;
  std::size_t place = 0;
  for (unsigned bits = 1; bits <= 16; ++bits) {
    const std::uint32_t count = code.counts[bits];
    if (next + count > (1U << bits)) return false;
    places_[bits] = static_cast<std::int32_t>(place) - static_cast<std::int32_t>(next);
    for (std::uint32_t i = 0; i < count; ++i, ++next, ++place) {
      const std::uint32_t entry = entry_of(bits, code.symbols[place], dc);
      if (entry == 0) return false;
      all_[place] = entry;
      if (bits > kBits) continue;
      const std::size_t width = std::size_t{1} << (kBits - bits);
      std::fill_n(entries_.begin() + static_cast<std::ptrdiff_t>(next * width), width, entry);
    }
    ends_[bits] = next << (16 - bits);
    next <<= 1U;
  }
  if (!dc) build_pairs();
  return true;
}

void HuffmanTable::build_pairs() {
  const auto value = [](std::uint64_t window, std::uint32_t entry) {
    return std::uint64_t{static_cast<std::uint16_t>(value_of(window, entry))};
  };
  for (std::size_t i = 0; i < kEntries; ++i) {
    const std::uint64_t window = std::uint64_t{i} << (64 - kBits);
    const std::uint32_t first = entries_[i];
    const std::uint64_t bits = bits_of(first);
    if (first == 0 || bits > kBits) {
      pairs_[i] = std::uint64_t{kTooLong} << 8U;
      continue;
    }
    const std::uint64_t one = value(window, first);
    std::uint64_t pair = (first >> 16U) << 8U | bits << 24U | one << 32U;
    const std::uint32_t second = entries_[(i << bits) & (kEntries - 1)];
    const std::uint64_t both = bits + bits_of(second);
    if (second != 0 && both <= kBits && first >> 16U != kEndOfBlock) {
      pair |= both | second >> 16U << 16U | value(window << bits, second) << 48U;
    } else {
      pair |= bits | one << 48U;
    }
    pairs_[i] = pair;
  }
}

std::uint32_t HuffmanTable::find(std::uint64_t window) const {
  const std::uint32_t entry = entries_[window >> (64 - kBits)];
  if (entry != 0) [[likely]]
    return entry;
  const auto code = static_cast<std::uint32_t>(window >> 48U);
  for (unsigned bits = kBits + 1; bits <= 16; ++bits) {
    if (code >= ends_[bits]) continue;
    const auto place = static_cast<std::int32_t>(code >> (16 - bits)) + places_[bits];
    return all_[static_cast<std::size_t>(place)];
  }
  return kBad;
}

void start(Lane& lane, const std::uint8_t* scan) {
  open_part(lane, scan);
  lane.slot = 0;
  lane.failed = lane.left_over = false;
  // The first unit begins no part.
  if (lane.restart_interval != 0) ++lane.units_left;
  lane.slot = lane.unit_blocks;
}

bool next_band(Lane& lane, std::int16_t* room, std::uint8_t* last, std::uint32_t blocks) {
  lane.last = last;
  lane.blocks_left = blocks;
  Turn turn{lane.at, 0, room, nullptr};
  lane.failed = !begin_block(lane, turn);
  lane.at = turn.at;
  lane.index = turn.index;
  lane.block = turn.block;
  lane.ac = turn.ac;
  return !lane.failed;
}

bool at_end(Lane& lane) { return used_up(lane); }

std::size_t place_of(const Lane& lane, const std::uint8_t* scan) {
  // A byte of which some bits were used is passed.
  return static_cast<std::size_t>((lane.at + 7) / 8 - reinterpret_cast<std::uintptr_t>(scan));
}

int decode_baseline(Lane* const* lanes, int count) { return run_any(lanes, count); }

int decode(Lane* const* lanes, int count) {
#if defined(__x86_64__)
  static const bool kNew = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("movbe");
  if (kNew) return decode_bmi(lanes, count);
#endif
  return decode_baseline(lanes, count);
}

}  // namespace spillway::jpeg
