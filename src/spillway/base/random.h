#pragma once

#include <array>
#include <cstdint>

namespace spillway {

// Philox 4x32-10, keyed and counted as TensorFlow does, so that seeded shuffles and random
// datasets give TensorFlow's own numbers.
class Philox {
 public:
  using Block = std::array<std::uint32_t, 4>;
  explicit Philox(std::uint64_t lo = 0, std::uint64_t hi = 0);
  Block next();
  void skip(std::uint64_t blocks);

 private:
  Block counter_;
  std::array<std::uint32_t, 2> key_;
};

// One 32-bit number at a time. `draws` is the whole state beside the seeds.
class PhiloxStream {
 public:
  PhiloxStream() : PhiloxStream(0, 0) {}
  PhiloxStream(std::uint64_t seed, std::uint64_t seed2) : philox_(seed, seed2) {}
  std::uint32_t next() {
    if ((draws_ & 3U) == 0) block_ = philox_.next();
    return block_[draws_++ & 3U];
  }
  std::uint64_t draws() const { return draws_; }
  // Jumps to the state after `draws` numbers of a fresh stream.
  static PhiloxStream at(std::uint64_t seed, std::uint64_t seed2, std::uint64_t draws);

 private:
  Philox philox_;
  Philox::Block block_{};
  std::uint64_t draws_ = 0;
};

// 64 unpredictable bits, for seeds the user did not give.
std::uint64_t entropy64();

}  // namespace spillway
