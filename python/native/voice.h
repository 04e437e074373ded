#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "spillway/base/mutex.h"

namespace spillway::python {

// Does things inside the interpreter for threads that must not wait for it: a thread of its own
// does the waiting. It starts when it is needed and ends when it is not; never destroyed.
class Voice {
 public:
  static Voice& process();

  enum class Said : std::uint8_t {
    kAll,      // it was done
    kBegun,    // it was begun, and takes its time
    kNothing,  // the interpreter was not to be had in time: it will not be done
  };
  // Without the GIL. `what` runs with it, at most once.
  Said say(std::function<void()> what, std::chrono::milliseconds wait_for_interpreter);
  // The same without waiting for any of it; false: there is no thread to be had.
  bool post(std::function<void()> what);

 private:
  struct Job {
    std::function<void()> what;
    bool begun = false;
    bool done = false;
  };
  bool start() SW_REQUIRES(mutex_);
  void loop();
  std::shared_ptr<Job> take();

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::shared_ptr<Job>> jobs_ SW_GUARDED_BY(mutex_);
  bool running_ SW_GUARDED_BY(mutex_) = false;
};

}  // namespace spillway::python
