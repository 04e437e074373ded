#include "voice.h"

#include <algorithm>

#include "python.h"
#include "spillway/base/thread.h"

namespace spillway::python {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSlice = std::chrono::milliseconds(50);
constexpr auto kIdle = std::chrono::seconds(2);
constexpr auto kForIt = std::chrono::seconds(5);

}  // namespace

Voice& Voice::process() {
  static auto& one = *new Voice;
  return one;
}

Voice::Said Voice::say(std::function<void()> what, std::chrono::milliseconds wait_for_interpreter) {
  const auto job = std::make_shared<Job>();
  job->what = std::move(what);
  const MutexLock lock(mutex_);
  if (!start()) return Said::kNothing;
  jobs_.push_back(job);
  changed_.notify_all();
  const auto begin_by = Clock::now() + wait_for_interpreter;
  while (!job->begun && Clock::now() < begin_by) changed_.wait_for(mutex_, kSlice);
  if (!job->begun) {
    std::erase(jobs_, job);
    return Said::kNothing;
  }
  const auto end_by = Clock::now() + kForIt;
  while (!job->done && Clock::now() < end_by) changed_.wait_for(mutex_, kSlice);
  return job->done ? Said::kAll : Said::kBegun;
}

bool Voice::post(std::function<void()> what) {
  const auto job = std::make_shared<Job>();
  job->what = std::move(what);
  const MutexLock lock(mutex_);
  if (!start()) return false;
  jobs_.push_back(job);
  changed_.notify_all();
  return true;
}

bool Voice::start() {
  if (running_) return true;
  running_ = start_thread([this] { loop(); }).ok();
  return running_;
}

// Called inside the interpreter: from here on it will be done.
std::shared_ptr<Voice::Job> Voice::take() {
  const MutexLock lock(mutex_);
  if (jobs_.empty()) return nullptr;
  std::shared_ptr<Job> job = std::move(jobs_.front());
  jobs_.pop_front();
  job->begun = true;
  changed_.notify_all();
  return job;
}

void Voice::loop() {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      const auto end_by = Clock::now() + kIdle;
      while (jobs_.empty() && Clock::now() < end_by) changed_.wait_for(mutex_, kSlice);
      if (jobs_.empty()) {
        running_ = false;
        return;
      }
    }
    std::shared_ptr<Job> job;
    {
      const WithGil gil;
      job = take();
      if (job != nullptr) job->what();
    }
    if (job == nullptr) continue;
    const MutexLock lock(mutex_);
    job->done = true;
    changed_.notify_all();
  }
}

}  // namespace spillway::python
