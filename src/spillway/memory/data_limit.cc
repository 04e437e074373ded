#include "spillway/memory/data_limit.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/thread.h"

namespace spillway {
namespace {

constexpr std::size_t kNear = kMiB;  // a limit so near to the wanted one is left as it is
// A new arena of malloc() begins with 132 KiB, and a thread's variables with an arena.
constexpr std::size_t kForVariables = 256 * kKiB;
constexpr std::int64_t kThreadStartsWithinNs = 20'000'000;
// The kernel looks at whole pages, so the bits below tell our limits from everybody else's, also
// when somebody puts back what getrlimit() told earlier.
constexpr rlim_t kPageBits = 0xfff;
constexpr rlim_t kOurs = 0xa5d;

struct Limits {
  std::atomic<rlim_t> given{RLIM_INFINITY};
  std::atomic<std::int64_t> lifted_until_ns{0};
};

rlim_t soft_now() {
  rlimit limit{};
  return getrlimit(RLIMIT_DATA, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool is_ours(rlim_t soft) { return soft != RLIM_INFINITY && (soft & kPageBits) == kOurs; }

void set_soft(rlim_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  // Where it cannot be set, the guardian's other layers are left.
  static_cast<void>(setrlimit(RLIMIT_DATA, &limit));
}

rlim_t notice();

Limits& limits() {
  static Limits& one = *[] {
    auto* made = new Limits;
    // Nobody follows in a forked child.
    pthread_atfork(nullptr, nullptr, [] { DataLimit::lift(0); });
    // The stack of a thread is address space that hardly anybody fills.
    set_stack_room([](std::size_t) {
      // Not ours may mean: lifted by another thread that starts one.
      if (!is_ours(notice()) && now_ns() >= limits().lifted_until_ns.load()) return false;
      DataLimit::lift(kThreadStartsWithinNs);
      return true;
    });
    set_before_thread([] { DataLimit::grant(kForVariables); });
    return made;
  }();
  return one;
}

// The soft limit as it is; one that is not ours is what was given from now on.
rlim_t notice() {
  const rlim_t now = soft_now();
  if (!is_ours(now)) limits().given = now;
  return now;
}

}  // namespace

std::optional<std::size_t> DataLimit::given() {
  notice();
  const rlim_t limit = limits().given;
  return limit == RLIM_INFINITY ? std::nullopt : std::optional<std::size_t>(limit);
}

void DataLimit::follow(std::size_t bytes) {
  const rlim_t now = notice();
  if (now_ns() < limits().lifted_until_ns.load()) return;
  const rlim_t given = limits().given;
  if (bytes >= given) {
    if (is_ours(now)) set_soft(given);
    return;
  }
  if (is_ours(now) && (bytes > now ? bytes - now : now - bytes) < kNear) return;
  set_soft((static_cast<rlim_t>(bytes) & ~kPageBits) | kOurs);
}

bool DataLimit::grant(std::size_t bytes) {
  const rlim_t now = notice();
  if (!is_ours(now)) return false;
  set_soft(((now + bytes) & ~kPageBits) | kOurs);
  return true;
}

void DataLimit::lift(std::int64_t ns) {
  if (ns > 0) limits().lifted_until_ns = now_ns() + ns;
  if (is_ours(notice())) set_soft(limits().given);
}

}  // namespace spillway
