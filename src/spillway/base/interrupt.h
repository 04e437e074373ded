#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace spillway {

// Ctrl-C while a thread waits inside the engine: the front sets a question for the thread, waits
// ask it now and then, and a yes makes them return kCancelled with nothing lost. A null question
// hides the one outside.
class InterruptScope {
 public:
  using Poll = bool (*)();
  explicit InterruptScope(Poll poll);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  const Poll before_;
  std::atomic<bool>* const work_before_;
  std::atomic<bool> abandoned_{false};
};

// Whether this thread was told to stop waiting. Asks at most every 20 ms; cheap otherwise.
bool interrupted(std::int64_t now_ns);
bool interrupted();

// How often this thread has looked whether it is interrupted, and the longest time between two
// looks: what is done in between hears nothing.
struct InterruptLooks {
  std::int64_t count = 0;
  std::int64_t longest_ns = 0;
};
// Since it was asked for last. The next look asks, however long the last answer is ago.
InterruptLooks take_interrupt_looks();

// The same for work, on the thread that began it and on those that help it: from the first yes on
// it says yes to all of them, until the scope ends. Work that gives up leaves its results half
// made: whoever began it asks given_up() behind it, and hands on kCancelled instead of them.
bool abandoned();
// Whether abandoned() has said yes. Never reads the clock: abandoned() may, 25 ns.
bool given_up();

// abandoned(), asked after every so many items of a loop: between them it costs a subtraction.
class Looks {
 public:
  static constexpr std::int64_t kItems = 1 << 16;
  explicit Looks(std::int64_t stretch = kItems) : stretch_(stretch), left_(stretch) {}
  bool abandoned(std::int64_t items = 1) {
    left_ -= items;
    if (left_ > 0) return false;
    left_ = stretch_;
    return spillway::abandoned();
  }

 private:
  std::int64_t stretch_;
  std::int64_t left_;
};

// Calls body(begin, end) for one stretch of [0, n) after the other, until the work is abandoned:
// then it returns false. One stretch is never looked at: who has many short ranges needs Looks.
template <class Body>
bool in_stretches(std::int64_t n, Body body) {
  for (std::int64_t begin = 0; begin < n; begin += Looks::kItems) {
    if (begin > 0 && abandoned()) return false;
    body(begin, std::min(n, begin + Looks::kItems));
  }
  return true;
}

// What abandoned() answers on this thread. A helper takes over the answer of the one it helps,
// which waits for it.
std::atomic<bool>* work_at_hand();
class HelperScope {
 public:
  explicit HelperScope(std::atomic<bool>* work);
  ~HelperScope();
  HelperScope(const HelperScope&) = delete;
  HelperScope& operator=(const HelperScope&) = delete;

 private:
  std::atomic<bool>* const before_;
};

}  // namespace spillway
