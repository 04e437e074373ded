#include "spillway/base/clock.h"

#include <ctime>

namespace spillway {

namespace {

std::int64_t read(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

std::int64_t coarse_now_ns() { return read(CLOCK_MONOTONIC_COARSE); }

std::int64_t thread_cpu_ns() { return read(CLOCK_THREAD_CPUTIME_ID); }

std::int64_t process_cpu_ns() { return read(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace spillway
