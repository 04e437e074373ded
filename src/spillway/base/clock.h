#pragma once

#include <chrono>
#include <cstdint>

namespace spillway {

// Monotonic nanoseconds: jumps of the wall clock never look like a stall.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// CPU nanoseconds of the calling thread: tells waiting from working.
std::int64_t thread_cpu_ns();

}  // namespace spillway
