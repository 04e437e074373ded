#include "spillway/base/interrupt.h"

#include <utility>

#include "spillway/base/clock.h"
#include "spillway/base/mutant.h"

namespace spillway {
namespace {

constexpr std::int64_t kAskEveryNs = 20'000'000;
thread_local InterruptScope::Poll thread_poll = nullptr;
thread_local std::int64_t asked_at = 0;

}  // namespace

InterruptScope::InterruptScope(Poll poll) : before_(std::exchange(thread_poll, poll)) {}
InterruptScope::~InterruptScope() { thread_poll = before_; }

bool interrupted(std::int64_t now) {
  if (thread_poll == nullptr || now - asked_at < kAskEveryNs) return false;
  if (mutant("interrupt_ignored")) return false;
  asked_at = now;
  return thread_poll();
}

bool interrupted() { return thread_poll != nullptr && interrupted(now_ns()); }

}  // namespace spillway
