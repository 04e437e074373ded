#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "spillway/base/forks.h"
#include "spillway/base/mutex.h"
#include "spillway/memory/ready_stacks.h"
#include "spillway/memory/room.h"

namespace spillway {

// Keeps the process out of the hands of the container's killer, whoever allocates. Three layers:
//
// 1. `admit()`: an allocator that asks first (NumPy's) is refused what would not fit once it is
//    touched, after everything of ours that is only kept for speed was given back.
// 2. The soft RLIMIT_DATA follows what is left (data_limit.h), so a single large malloc() of any
//    library fails as an ordinary error.
// 3. A thread looks at the process and its container, the more often the less is left. When what
//    is kept free begins to be used, it first makes room (Budget::reclaim, malloc_trim); if that
//    is not enough, `raise` is told which thread grows, and stops it.
class Guardian {
 public:
  struct Alarm {
    Room room;
    std::size_t kept = 0;          // what should be free
    std::int64_t grew = 0;         // of the process's anonymous memory, since it last shrank
    std::int64_t grew_arrays = 0;  // of that, NumPy's
    std::int64_t grew_ours = 0;    // of that, Spillway's
    double seconds = 0;            // since when
    int thread = 0;                // the kernel's number of the thread that touched the most
    std::int64_t at_ns = 0;
  };
  // Called on the guardian's thread, which it must not hold up.
  using Raise = std::function<void(const Alarm&)>;

  static Guardian& process();
  ~Guardian() = delete;  // threads may outlive static destruction

  // Starts the thread; a second call only sets `raise`. Not in a forked child, which is on its own.
  void start(Raise raise);
  // Waits for the thread to end, and lifts the limit.
  void stop();

  // An allocation that somebody is about to make.
  struct Request {
    std::size_t bytes = 0;
    const char* what = "an object";  // for the refusal
    // How much of what is kept free it must leave.
    enum class Size : std::uint8_t {
      kLarge,      // all of it
      kSmall,      // a part: it may belong to telling an error
      kNecessary,  // almost nothing: whoever asks does not survive a refusal
    } size = Size::kLarge;
    bool touched = false;  // at once, so that it is measured by what is really free
  };
  // Whether it fits. Where not, `refusal` says why. Any thread; 2 ns unless little is left or much
  // is asked for. Followed by `allocated()`.
  bool admit(const Request& request, std::string& refusal) {
    return fits_at_once(request) || admit_slowly(request, refusal);
  }
  bool fits_at_once(const Request& request) const {
    const auto after = counted() + static_cast<std::int64_t>(request.bytes);
    return after <= look_at_.load(std::memory_order_relaxed);
  }
  // With a look at the process, and after what is ours was given back if it must be.
  bool admit_slowly(const Request& request, std::string& refusal);
  // What an allocator that asks holds more (less, if negative) since: NumPy's, or another. Each
  // adds to one sum only: an atomic addition is most of what counting costs.
  void allocated_arrays(std::int64_t bytes) { arrays_.fetch_add(bytes, std::memory_order_relaxed); }
  void allocated(std::int64_t bytes) { others_.fetch_add(bytes, std::memory_order_relaxed); }
  std::int64_t arrays() const { return arrays_.load(std::memory_order_relaxed); }
  std::int64_t counted() const { return arrays() + others_.load(std::memory_order_relaxed); }

  // Sets the soft limit anew: it lags behind what was given back since. Whether it is ours, so that
  // trying again makes sense.
  bool follow_limit_now();

  // For what operator new could not have: a little more where the container has it. C++ libraries
  // do not survive the failure of a small allocation. Whether to try again.
  bool grant_a_little();

  // An error of this kind is being told. For some seconds small allocations may use more of what
  // is kept free: the traceback, the next line that is compiled, the `del` that helps.
  void error_is_told();

  // When a small allocation was last refused: whoever grew is told by that.
  std::int64_t refused_ns() const { return refused_ns_.load(); }
  // A process is about to be started, and may fill the container faster than anybody looks.
  void expect_child();

  // Whether still too little is free: asked again right before a thread is stopped.
  bool is_tight();
  // The moment of the last seconds when the least was free: what an error left behind is gone by
  // the time it is told.
  Room fullest();
  // How often a thread was to be stopped since the process began.
  std::uint64_t alarms() const { return alarms_.load(std::memory_order_relaxed); }
  // How often every mapping of the process was read, by whoever.
  std::uint64_t close_looks() const { return close_looks_.load(std::memory_order_relaxed); }

 private:
  struct Moment {
    std::int64_t at_ns = 0;
    std::size_t own = 0;
    std::int64_t arrays = 0;
    std::size_t ours = 0;
  };
  struct Faults {  // of a thread
    int thread = 0;
    std::uint64_t count = 0;
  };

  Guardian() = default;
  void allow(const Room& room, std::int64_t held);
  void follow_limit(const Room& room);
  std::size_t wanted_limit(const Room& room) const;
  bool is_lenient() const;
  std::size_t must_leave(const Room& room, const Request& request) const;
  std::size_t room_for(const Room& room, const Request& request) const;
  std::size_t known_untouched(const Room& room) const;
  Room with_allocated(Room room) const;
  Room look_for(const Request& request);
  bool trim_heap(std::size_t wanted);
  void loop();
  std::chrono::nanoseconds look();
  Room look_closely();
  Room make_room(const Room& room, std::size_t wanted);
  void note_fullest(const Room& room);
  void follow_stillness(const Room& room);
  void offer(const Room& room);
  void follow_growth(const Room& room);
  void warn(const Room& room);
  int thread_that_grows();

  // What admit()'s callers hold, and up to what sum nobody has to look.
  alignas(64) std::atomic<std::int64_t> arrays_{0};
  std::atomic<std::int64_t> others_{0};
  std::atomic<std::int64_t> look_at_{0};
  std::atomic<std::size_t> granted_{0};  // by grant_a_little(), since the limit was followed
  std::atomic<std::uint64_t> alarms_{0};
  std::atomic<std::uint64_t> close_looks_{0};
  std::atomic<std::int64_t> trimmed_ns_{0};
  std::atomic<std::int64_t> counted_at_trim_{0};   // counted() then
  std::atomic<std::int64_t> closely_at_ns_{0};     // when the next close look is due
  std::atomic<std::int64_t> urgent_at_ns_{0};      // and where it cannot wait
  std::atomic<std::int64_t> not_counted_{0};       // what the process held when it was started
  std::atomic<std::int64_t> counted_then_{0};      // counted() at the last one
  std::atomic<std::int64_t> lenient_until_ns_{0};  // because an error was told
  std::atomic<std::int64_t> refused_ns_{0};
  std::atomic<std::int64_t> child_until_ns_{0};  // one may have been started that nobody has seen
  std::atomic<std::int64_t> still_since_ns_{0};  // the process has not grown since

  Mutex mutex_;
  CondVar wake_;
  bool running_ SW_GUARDED_BY(mutex_) = false;
  bool stopping_ SW_GUARDED_BY(mutex_) = false;
  Raise raise_ SW_GUARDED_BY(mutex_);
  Room fullest_ SW_GUARDED_BY(mutex_);
  std::int64_t fullest_ns_ SW_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
  HomeProcess home_;

  // Of the guardian's thread alone.
  Moment since_;                   // where the growth began
  Moment recent_;                  // some seconds ago
  std::size_t warned_at_ = 0;      // used, when a thread was last stopped
  std::vector<Faults> faults_;     // of each thread at the last look; empty: enough was free
  std::int64_t faults_ns_ = 0;     // when that was
  std::size_t faults_own_ = 0;     // what the process held then
  std::size_t faults_shared_ = 0;  // of that, in pages that others may map, too
  std::size_t faults_used_ = 0;    // and the container
  std::size_t still_own_ = 0;      // what it held then
  std::int64_t offered_ns_ = 0;    // when children were last offered
  ReadyStacks stacks_;
};

}  // namespace spillway
