#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

// A named place where a test may step in between two instructions. Compiles to
// nothing unless SW_TEST_POINTS is defined (the dev and sanitizer presets).
#ifdef SW_TEST_POINTS
#define SW_TEST_POINT(name) ::spillway::ScopedTestPoint::hit(name)

namespace spillway {

// Arms one point, on every thread, for the life of the object; fires at most once.
class ScopedTestPoint {
 public:
  ScopedTestPoint(std::string_view name, std::function<void()> action)
      : name_(name), action_(std::move(action)) {
    const std::lock_guard lock(mutex());
    armed_ = this;
  }
  ~ScopedTestPoint() {
    const std::lock_guard lock(mutex());
    armed_ = nullptr;
  }
  ScopedTestPoint(const ScopedTestPoint&) = delete;
  ScopedTestPoint& operator=(const ScopedTestPoint&) = delete;

  static void hit(std::string_view name) {
    if (armed_.load(std::memory_order_relaxed) == nullptr) return;
    std::function<void()> action;
    {
      const std::lock_guard lock(mutex());
      ScopedTestPoint* point = armed_;
      if (point == nullptr || point->name_ != name) return;
      action = point->action_;
      armed_ = nullptr;
    }
    action();
  }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  std::string name_;
  std::function<void()> action_;
  static inline std::atomic<ScopedTestPoint*> armed_{nullptr};
};

}  // namespace spillway
#else
#define SW_TEST_POINT(name) static_cast<void>(0)
#endif
