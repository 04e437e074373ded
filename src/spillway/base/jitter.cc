#include "spillway/base/jitter.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "spillway/base/random.h"

namespace spillway {
namespace {

std::uint64_t seed() {
  const char* text = std::getenv("SPILLWAY_TEST_JITTER");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace

void jitter() {
  static const std::uint64_t kSeed = seed();
  if (kSeed == 0) return;
  static std::atomic<std::uint64_t> threads{0};
  thread_local PhiloxStream stream(kSeed, ++threads);
  const std::uint32_t draw = stream.next();
  if (draw % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw / 4 % 300));
  if (draw % 4 == 1) std::this_thread::yield();
}

}  // namespace spillway
