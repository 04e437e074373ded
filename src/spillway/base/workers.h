#pragma once

#include <cstdint>
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

  // On this thread where the system gives none at all, so not under a lock that the task takes.
  void run(std::function<void()> task);
  int threads() const;
  // Whether this thread is one of theirs: then it may not wait for others.
  static bool inside();

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

// How many threads a computation may be spread over from here: the CPUs and what set_most_threads
// says; 1 on a worker's own thread.
int parallel_width();

// Calls body(range, slot) for ranges 0 .. ranges - 1, on this thread and on compute workers, and
// returns when all are done. `slot` < parallel_width() tells apart calls that run at the same time.
// Which thread does which range is not defined: results must not depend on it. Where this thread is
// interrupted, the rest is not done: ask given_up() behind it.
void parallel_ranges(std::int64_t ranges,
                     const std::function<void(std::int64_t range, int slot)>& body);

}  // namespace spillway
