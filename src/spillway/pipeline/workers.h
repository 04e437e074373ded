#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "spillway/base/mutex.h"

namespace spillway {

// Threads that run tasks to their end. Tasks never pull from a pipeline and never wait for memory
// or for each other (R12); they may block in user code, on the blocking kind. Threads start when
// needed and end after some idle seconds. Never destroyed: a thread stuck in user code must not
// hold up the exit.
class Workers {
 public:
  // As many as CPUs the process may use.
  static Workers& compute();
  // For functions that wait (an interpreter lock, a sleep, a read): up to `kMostBlocking`.
  static Workers& blocking();
  static constexpr int kMostBlocking = 1024;
  static int usable_cpus();  // affinity and cgroup quota
  // Of each kind, for tasks that start from now on; 0: no limit but the kinds' own.
  static void set_most_threads(int most);

  void run(std::function<void()> task);
  int threads() const;

 private:
  explicit Workers(int most) : most_(most) {}
  void loop();

  const int most_;
  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> tasks_ SW_GUARDED_BY(mutex_);
  int idle_ SW_GUARDED_BY(mutex_) = 0;
  int threads_ SW_GUARDED_BY(mutex_) = 0;
  int running_ SW_GUARDED_BY(mutex_) = 0;
};

}  // namespace spillway
