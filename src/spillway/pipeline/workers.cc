#include "spillway/pipeline/workers.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include "spillway/base/jitter.h"

namespace spillway {
namespace {

constexpr auto kIdleFor = std::chrono::seconds(10);
std::atomic<int> most_threads{0};

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
  const MutexLock lock(mutex_);
  tasks_.push_back(std::move(task));
  const int limit = most_threads;
  const int most = limit > 0 ? std::min(limit, most_) : most_;
  if (idle_ >= static_cast<int>(tasks_.size())) {
    wake_.notify_one();
  } else if (threads_ < most) {
    ++threads_;
    std::thread([this] { loop(); }).detach();
  }
}

void Workers::loop() {
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

}  // namespace spillway
