#include "spillway/base/random.h"

#include <random>

namespace spillway {

Philox::Philox(std::uint64_t lo, std::uint64_t hi)
    : counter_{0, 0, static_cast<std::uint32_t>(hi), static_cast<std::uint32_t>(hi >> 32)},
      key_{static_cast<std::uint32_t>(lo), static_cast<std::uint32_t>(lo >> 32)} {}

Philox::Block Philox::next() {
  Block c = counter_;
  std::uint32_t k0 = key_[0];
  std::uint32_t k1 = key_[1];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ULL * c[0];
    const std::uint64_t p1 = 0xCD9E8D57ULL * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  skip(1);
  return c;
}

void Philox::skip(std::uint64_t blocks) {
  const std::uint64_t low = counter_[0] | (static_cast<std::uint64_t>(counter_[1]) << 32);
  const std::uint64_t sum = low + blocks;
  counter_[0] = static_cast<std::uint32_t>(sum);
  counter_[1] = static_cast<std::uint32_t>(sum >> 32);
  if (sum < low && ++counter_[2] == 0) ++counter_[3];
}

PhiloxStream PhiloxStream::at(std::uint64_t seed, std::uint64_t seed2, std::uint64_t draws) {
  PhiloxStream stream(seed, seed2);
  stream.philox_.skip(draws / 4);
  stream.draws_ = draws / 4 * 4;
  while (stream.draws_ < draws) stream.next();
  return stream;
}

std::uint64_t entropy64() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace spillway
