#include "spillway/base/interrupt.h"

#include <algorithm>
#include <utility>

#include "spillway/base/clock.h"
#include "spillway/base/mutant.h"
#include "spillway/base/test_point.h"

namespace spillway {
namespace {

constexpr std::int64_t kAskEveryNs = 20'000'000;
thread_local InterruptScope::Poll thread_poll = nullptr;
thread_local std::int64_t asked_at = 0;
thread_local std::atomic<bool>* thread_work = nullptr;
thread_local InterruptLooks looks;
thread_local std::int64_t looked_at = 0;

void note_look(std::int64_t now) {
  ++looks.count;
  looks.longest_ns = std::max(looks.longest_ns, now - looked_at);
  looked_at = now;
}

}  // namespace

InterruptScope::InterruptScope(Poll poll)
    : before_(std::exchange(thread_poll, poll)),
      work_before_(std::exchange(thread_work, poll == nullptr ? nullptr : &abandoned_)) {}
InterruptScope::~InterruptScope() {
  thread_poll = before_;
  thread_work = work_before_;
}

bool interrupted(std::int64_t now) {
  if (thread_poll == nullptr) return false;
  note_look(now);
  SW_TEST_POINT("interrupt_look");
  if (now - asked_at < kAskEveryNs) return false;
  if (mutant("interrupt_ignored")) return false;
  asked_at = now;
  return thread_poll();
}

InterruptLooks take_interrupt_looks() {
  note_look(now_ns());
  --looks.count;
  asked_at = 0;
  return std::exchange(looks, {});
}

bool given_up() {
  const std::atomic<bool>* const work = thread_work;
  return work != nullptr && work->load(std::memory_order_relaxed);
}

bool abandoned() {
  std::atomic<bool>* const work = thread_work;
  if (work == nullptr) return false;
  if (work->load(std::memory_order_relaxed)) return true;
  if (!interrupted()) return false;
  work->store(true, std::memory_order_relaxed);
  return true;
}

std::atomic<bool>* work_at_hand() { return thread_work; }
HelperScope::HelperScope(std::atomic<bool>* work) : before_(std::exchange(thread_work, work)) {}
HelperScope::~HelperScope() { thread_work = before_; }

bool interrupted() { return thread_poll != nullptr && interrupted(now_ns()); }

}  // namespace spillway
