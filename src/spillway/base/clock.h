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

// The same clock as of the kernel's last tick, at most some milliseconds ago: a quarter of the
// price.
std::int64_t coarse_now_ns();

// CPU nanoseconds of the calling thread: tells waiting from working.
std::int64_t thread_cpu_ns();
// Of all threads of this process.
std::int64_t process_cpu_ns();

}  // namespace spillway
