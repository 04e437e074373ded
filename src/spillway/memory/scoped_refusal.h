#pragma once

#include <atomic>
#include <cstdint>

namespace spillway {

// For tests: the n-th Account::reserve() of the process from now on finds no room, whatever there
// is; the others are as always. One at a time. Does nothing in a build without test points.
class ScopedRefusal {
 public:
  explicit ScopedRefusal(std::int64_t nth) { left_ = nth; }
  ~ScopedRefusal() { left_ = 0; }
  ScopedRefusal(const ScopedRefusal&) = delete;
  ScopedRefusal& operator=(const ScopedRefusal&) = delete;

  bool happened() const { return left_ <= 0; }

  // Asked by every reservation.
  static bool is_due() {
    return left_.load(std::memory_order_relaxed) > 0 && left_.fetch_sub(1) == 1;
  }

 private:
  static inline std::atomic<std::int64_t> left_{0};
};

}  // namespace spillway
