#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "py_function.h"
#include "spillway/base/mutex.h"
#include "spillway/guard/channel.h"
#include "spillway/memory/activity.h"
#include "spillway/pipeline/awaited_function.h"

namespace spillway::python {

class AsyncLoop;

// One row on its way through an async function. Made anywhere; the rest happens on the loop's
// thread, with the GIL. Python's side (spillway/async_loop.py) starts it, awaits what that gives,
// and says how it ended.
class AsyncCall {
 public:
  AsyncCall(std::shared_ptr<PyFunction> function, Chunk row, AccountPtr account,
            AwaitedFunction::Done done)
      : function_(std::move(function)),
        row_(std::move(row)),
        account_(std::move(account)),
        done_(std::move(done)) {}

  // What must be awaited; empty with an exception.
  Ref start();
  // Each keeps the outcome until settle() tells it.
  void finish(PyObject* result);
  void fail(PyObject* error);
  void fail(Status error) { outcome_.error = std::move(error); }
  // Without the GIL. Once.
  void settle();
  std::shared_ptr<AsyncLoop> loop() const { return loop_.lock(); }

 private:
  friend class AsyncLoop;
  void note_cpu();

  const std::shared_ptr<PyFunction> function_;
  Chunk row_;
  const AccountPtr account_;
  AwaitedFunction::Done done_;
  Function::Outcome outcome_;
  std::weak_ptr<AsyncLoop> loop_;  // set before it is pushed
};
using AsyncCallPtr = std::shared_ptr<AsyncCall>;

// The way to the event loop's thread: what is pushed here is taken there. Bounded by the windows of
// the stages that push.
class AsyncLoop : public std::enable_shared_from_this<AsyncLoop> {
 public:
  // That of the process, started when it is first needed. One that does not answer (user code
  // blocks it, though nobody waits for it any more) is left behind and another takes its place.
  static std::shared_ptr<AsyncLoop> current();
  static bool here();  // whether this thread is a loop's
  // Before the interpreter ends, with the GIL: the thread goes to sleep for good where it holds
  // nothing of the interpreter's. Waits a moment for that.
  static void end();

  AsyncLoop();
  // Any thread, without the GIL. An error: the thread could not be started.
  Status push(const AsyncCallPtr& call);
  void cancel(const AsyncCallPtr& call);

  // The loop's thread, with the GIL.
  int wake() const { return wake_.get(); }
  struct Taken {
    std::vector<AsyncCallPtr> begun;
    std::vector<AsyncCallPtr> cancelled;
  };
  Taken take();
  void settle(std::vector<AsyncCallPtr> calls);
  // CPU time of this thread since it was last asked: the share of the call that has just ended.
  std::int64_t cpu_share();

 private:
  static std::shared_ptr<AsyncLoop>& one();
  void start();  // without the GIL
  Status start_in_python();
  void sleep_if_ended();
  void refuse(const Status& why);
  bool unusable();

  const Descriptor wake_;
  Mutex mutex_;
  std::vector<AsyncCallPtr> begun_ SW_GUARDED_BY(mutex_);
  std::vector<AsyncCallPtr> cancelled_ SW_GUARDED_BY(mutex_);
  Status failed_ SW_GUARDED_BY(mutex_);  // there is no thread
  bool ended_ SW_GUARDED_BY(mutex_) = false;
  bool asleep_ SW_GUARDED_BY(mutex_) = false;
  CondVar fell_asleep_;
  std::atomic<std::int64_t> unanswered_ns_{0};  // since when a cancel() waits to be taken; 0: none
  // The loop thread's own.
  std::int64_t active_ = 0;
  std::int64_t cpu_ns_ = 0;
  std::optional<Working> working_;  // while any call is under way
};

// What Python does for it: start(loop) makes the thread, is_async(callable) looks at a function.
struct AsyncHooks {
  Ref start;
  Ref is_async;
};
AsyncHooks& async_hooks();

}  // namespace spillway::python
