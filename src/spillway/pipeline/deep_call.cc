#include "spillway/pipeline/deep_call.h"

#include <atomic>
#include <chrono>
#include <optional>

#include "spillway/base/interrupt.h"
#include "spillway/base/thread.h"
#include "spillway/memory/activity.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

// Stages that fit any thread's stack, at the most that one was seen to take with a sanitizer.
constexpr std::int64_t kShallow = 256;
constexpr std::size_t kBytesAStage = 16 * 1024;
constexpr std::size_t kBeside = 4 * 1024 * 1024;

thread_local const std::atomic<bool>* stop_of_this_thread = nullptr;

bool told_to_stop() { return stop_of_this_thread != nullptr && stop_of_this_thread->load(); }

struct Call {
  Mutex mutex;
  CondVar changed;
  bool done SW_GUARDED_BY(mutex) = false;
  std::atomic<bool> stop{false};
};

}  // namespace

Status start_thread_for(std::int64_t depth, std::function<void()> body) {
  if (depth <= kShallow) return start_thread(std::move(body));
  return start_thread(std::move(body), kBeside + static_cast<std::size_t>(depth) * kBytesAStage);
}

Status with_stack_for(std::int64_t depth, Budget& budget, const std::function<void()>& body) {
  if (depth <= kShallow) {
    body();
    return {};
  }
  const bool works = Working::here();
  const AccountPtr* const user_code = UserCodeScope::current();
  Call call;
  const auto run = [&] {
    {
      std::optional<UserCodeScope> scope;
      if (user_code != nullptr) scope.emplace(*user_code);
      std::optional<Working> working;
      if (works) working.emplace(budget);
      stop_of_this_thread = &call.stop;
      const InterruptScope interrupt(told_to_stop);
      body();
    }
    const MutexLock lock(call.mutex);
    call.done = true;
    call.changed.notify_all();
  };
  SW_RETURN_IF_ERROR(start_thread_for(depth, run));
  const Parked parked(budget);
  for (;;) {
    {
      const MutexLock lock(call.mutex);
      if (!call.done) call.changed.wait_for(call.mutex, std::chrono::milliseconds(20));
      if (call.done) return {};
    }
    if (interrupted()) call.stop = true;
  }
}

}  // namespace spillway
