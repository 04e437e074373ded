#include "spillway/graph/farm_fingerprint.h"

#include <bit>
#include <cstring>
#include <utility>

namespace spillway::graph {
namespace {

using U64 = std::uint64_t;

constexpr U64 kA = 0xc3a5c85c97cb3127ULL;
constexpr U64 kB = 0xb492b66fbe98f273ULL;
constexpr U64 kC = 0x9ae16a3b2f90404fULL;

static_assert(std::endian::native == std::endian::little, "fingerprints read words as they lie");
U64 word(const char* at) {
  U64 value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}
U64 half_word(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}
// To the right, as FarmHash means it.
U64 turn(U64 value, int bits) { return std::rotr(value, bits); }
U64 fold_down(U64 value) { return value ^ (value >> 47U); }
U64 mix(U64 u, U64 v, U64 factor) {
  const U64 a = fold_down((u ^ v) * factor);
  return fold_down((v ^ a) * factor) * factor;
}

U64 up_to_16(const char* s, std::size_t n) {
  if (n >= 8) {
    const U64 factor = kC + n * 2;
    const U64 a = word(s) + kC;
    const U64 b = word(s + n - 8);
    return mix(turn(b, 37) * factor + a, (turn(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return mix(n + (half_word(s) << 3U), half_word(s + n - 4), kC + n * 2);
  if (n == 0) return kC;
  const auto byte = [s](std::size_t i) { return U64{static_cast<unsigned char>(s[i])}; };
  const U64 y = byte(0) + (byte(n / 2) << 8U);
  const U64 z = n + (byte(n - 1) << 2U);
  return fold_down(y * kC ^ z * kA) * kC;
}

U64 up_to_32(const char* s, std::size_t n) {
  const U64 factor = kC + n * 2;
  const U64 a = word(s) * kB;
  const U64 b = word(s + 8);
  const U64 c = word(s + n - 8) * factor;
  const U64 d = word(s + n - 16) * kC;
  return mix(turn(a + b, 43) + turn(c, 30) + d, a + turn(b + kC, 18) + c, factor);
}

U64 up_to_64(const char* s, std::size_t n) {
  const U64 factor = kC + n * 2;
  const U64 a = word(s) * kC;
  const U64 b = word(s + 8);
  const U64 c = word(s + n - 8) * factor;
  const U64 d = word(s + n - 16) * kC;
  const U64 y = turn(a + b, 43) + turn(c, 30) + d;
  const U64 z = mix(y, a + turn(b + kC, 18) + c, factor);
  const U64 e = word(s + 16) * factor;
  const U64 f = word(s + 24);
  const U64 g = (y + word(s + n - 32)) * factor;
  const U64 h = (z + word(s + n - 24)) * factor;
  return mix(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, factor);
}

struct Pair {
  U64 first = 0;
  U64 second = 0;
};
// Takes in 32 bytes.
Pair absorb(const char* s, U64 a, U64 b) {
  const U64 last = word(s + 24);
  a += word(s);
  b = turn(b + a + last, 21);
  const U64 c = a;
  a += word(s + 8) + word(s + 16);
  b += turn(a, 44);
  return {a + last, b + c};
}

struct State {
  U64 x = 0;
  U64 y = 0;
  U64 z = 0;
  Pair v;
  Pair w;

  // Takes in 64 bytes. The last block weighs two of the terms differently.
  void take(const char* s, U64 factor, U64 weight) {
    x = turn(x + y + v.first + word(s + 8), 37) * factor;
    y = turn(y + v.second + word(s + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + word(s + 40);
    z = turn(z + w.first, 33) * factor;
    v = absorb(s, v.second * factor, x + w.first);
    w = absorb(s + 32, z + w.second, y + word(s + 16));
    std::swap(z, x);
  }
};

}  // namespace

std::uint64_t farm_fingerprint(std::string_view bytes) {
  const char* s = bytes.data();
  const std::size_t n = bytes.size();
  if (n <= 16) return up_to_16(s, n);
  if (n <= 32) return up_to_32(s, n);
  if (n <= 64) return up_to_64(s, n);
  constexpr U64 kSeed = 81;
  State state;
  state.y = kSeed * kB + 113;
  state.z = fold_down(state.y * kC + 113) * kC;
  state.x = kSeed * kC + word(s);
  const std::size_t rest = (n - 1) % 64;
  const char* const end = s + (n - 1) / 64 * 64;
  for (; s != end; s += 64) state.take(s, kB, 1);
  const U64 factor = kB + ((state.z & 0xffU) << 1U);
  state.w.first += rest;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.take(end + rest - 63, factor, 9);
  return mix(mix(state.v.first, state.w.first, factor) + fold_down(state.y) * kA + state.z,
             mix(state.v.second, state.w.second, factor) + state.x, factor);
}

}  // namespace spillway::graph
