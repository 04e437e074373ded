#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SW_TSA(x) __attribute__((x))
#else
#define SW_TSA(x)
#endif
#define SW_GUARDED_BY(m) SW_TSA(guarded_by(m))
#define SW_REQUIRES(m) SW_TSA(requires_capability(m))
#define SW_EXCLUDES(m) SW_TSA(locks_excluded(m))
#define SW_NO_TSA SW_TSA(no_thread_safety_analysis)

namespace spillway {

// libstdc++'s std::mutex carries no annotations, so clang cannot check it.
class SW_TSA(capability("mutex")) Mutex {
 public:
  void lock() SW_TSA(acquire_capability()) { mutex_.lock(); }
  void unlock() SW_TSA(release_capability()) { mutex_.unlock(); }
  bool try_lock() SW_TSA(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SW_TSA(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& m) SW_TSA(acquire_capability(m)) : mutex_(m) { mutex_.lock(); }
  ~MutexLock() SW_TSA(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits may wake for no reason: callers loop on their condition.
class CondVar {
 public:
  void wait(Mutex& m) SW_REQUIRES(m) SW_NO_TSA {
    std::unique_lock<std::mutex> held(m.mutex_, std::adopt_lock);
    cv_.wait(held);
    held.release();
  }
  // False when the time was up.
  bool wait_for(Mutex& m, std::chrono::nanoseconds time) SW_REQUIRES(m) SW_NO_TSA {
    std::unique_lock<std::mutex> held(m.mutex_, std::adopt_lock);
    const bool notified = cv_.wait_for(held, time) == std::cv_status::no_timeout;
    held.release();
    return notified;
  }
  void notify_one() { cv_.notify_one(); }
  void notify_all() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace spillway
