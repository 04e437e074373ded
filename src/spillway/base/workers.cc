#include "spillway/base/workers.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "spillway/base/interrupt.h"
#include "spillway/base/jitter.h"
#include "spillway/base/thread.h"

namespace spillway {
namespace {

constexpr auto kIdleFor = std::chrono::seconds(10);
std::atomic<int> most_threads{0};
thread_local bool is_worker = false;

// CPUs' worth of time the container grants; 0: no quota.
double cgroup_cpus() {
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
  std::ifstream v1("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double microseconds = 0;
  if (v1 >> microseconds && v1_period >> period && microseconds > 0 && period > 0) {
    return microseconds / period;
  }
  return 0;
}

}  // namespace

int Workers::usable_cpus() {
  static const int kCpus = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0
                   ? CPU_COUNT(&set)
                   : static_cast<int>(std::thread::hardware_concurrency());
    if (const double quota = cgroup_cpus(); quota > 0) {
      cpus = std::min(cpus, std::max(1, static_cast<int>(std::ceil(quota))));
    }
    return std::max(1, cpus);
  }();
  return kCpus;
}

Workers& Workers::compute() {
  static Workers& workers = *new Workers(usable_cpus());
  return workers;
}

Workers& Workers::blocking() {
  static Workers& workers = *new Workers(kMostBlocking);
  return workers;
}

int Workers::threads() const {
  const MutexLock lock(mutex_);
  return threads_;
}

void Workers::set_most_threads(int most) { most_threads = most; }

void Workers::run(std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    const int limit = most_threads;
    const int most = limit > 0 ? std::min(limit, most_) : most_;
    const bool all_busy = idle_ <= static_cast<int>(tasks_.size());
    if (all_busy && threads_ < most && start_thread([this] { loop(); }).ok()) ++threads_;
    // Where the system gives no further thread, those that are there do all the work.
    if (threads_ > 0) {
      tasks_.push_back(std::move(task));
      wake_.notify_one();
      return;
    }
  }
  task();
}

bool Workers::inside() { return is_worker; }

void Workers::loop() {
  is_worker = true;
  for (;;) {
    std::function<void()> task;
    {
      const MutexLock lock(mutex_);
      ++idle_;
      for (;;) {
        const int limit = most_threads;
        if (!tasks_.empty() && (limit <= 0 || running_ < limit)) break;
        if (!wake_.wait_for(mutex_, kIdleFor) && tasks_.empty()) {
          --idle_;
          --threads_;
          return;
        }
      }
      --idle_;
      ++running_;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    jitter();
    task();
    task = nullptr;
    const MutexLock lock(mutex_);
    --running_;
    if (!tasks_.empty()) wake_.notify_one();
  }
}

int parallel_width() {
  if (is_worker) return 1;
  const int limit = most_threads;
  const int cpus = Workers::usable_cpus();
  return limit > 0 ? std::min(limit, cpus) : cpus;
}

namespace {

// Ranges are taken one by one, so a helper that comes late, or never, costs nothing.
struct Shared {
  const std::function<void(std::int64_t, int)>* body = nullptr;
  std::int64_t ranges = 0;
  std::atomic<bool>* work_at_hand = nullptr;
  std::atomic<std::int64_t> next{0};
  Mutex mutex;
  CondVar finished;
  int working SW_GUARDED_BY(mutex) = 0;
  bool closed SW_GUARDED_BY(mutex) = false;

  void work(int slot) {
    for (;;) {
      const std::int64_t range = next.fetch_add(1);
      if (range >= ranges || abandoned()) return;
      (*body)(range, slot);
    }
  }
};

}  // namespace

void parallel_ranges(std::int64_t ranges, const std::function<void(std::int64_t, int)>& body) {
  const auto width = static_cast<int>(std::min<std::int64_t>(parallel_width(), ranges));
  if (width <= 1) {
    for (std::int64_t range = 0; range < ranges && !abandoned(); ++range) body(range, 0);
    return;
  }
  auto shared = std::make_shared<Shared>();
  shared->body = &body;
  shared->ranges = ranges;
  shared->work_at_hand = work_at_hand();
  for (int i = 1; i < width; ++i) {
    Workers::compute().run([shared, i] {
      {
        const MutexLock lock(shared->mutex);
        if (shared->closed) return;  // all done before we came; `body` is gone
        ++shared->working;
      }
      {
        const HelperScope helps(shared->work_at_hand);
        shared->work(i);
      }
      const MutexLock lock(shared->mutex);
      --shared->working;
      shared->finished.notify_all();
    });
  }
  shared->work(0);
  const MutexLock lock(shared->mutex);
  shared->closed = true;
  while (shared->working > 0) shared->finished.wait(shared->mutex);
}

}  // namespace spillway
