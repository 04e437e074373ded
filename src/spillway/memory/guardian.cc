#include "spillway/memory/guardian.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/test_point.h"
#include "spillway/memory/budget.h"
#include "spillway/memory/child_processes.h"
#include "spillway/memory/data_limit.h"
#include "spillway/memory/slab_pool.h"

namespace spillway {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr auto kOften = milliseconds(1);
constexpr auto kSeldom = milliseconds(100);
// As fast as a process fills memory: two cores touched 4 KiB pages at 2 to 4 GB/s, measured.
constexpr std::size_t kFillsPerMs = 4 * kMiB;
constexpr std::int64_t kTrimEveryNs = 1'000'000'000;
// The part of what is kept free that the soft limit leaves, and at least kLeastForSmall. Below it
// only small allocations are given: libraries do not survive it when those fail (a thread's
// variables, the notebook's sockets).
constexpr std::size_t kPartForAnybody = 8;
constexpr std::size_t kSmallOnes = 4 * kMiB;
// What the interpreter, NumPy and we hold at least: 30 to 40 MiB measured. More than that may be
// freed again.
constexpr std::int64_t kInterpreter = 40 * kMiB;
constexpr std::size_t kGrant = 256 * kKiB;
// What small allocations leave: a third of what is kept free, and at least so much. While an error
// is told, or nothing grows, a sixth, and at least so much: the next line that is compiled, the
// `del` that helps. The rest is for what a notebook does between two cells.
constexpr std::size_t kPartForSmall = 3;
constexpr std::size_t kLeastForSmall = 8 * kMiB;
constexpr std::size_t kPartWhileTelling = 6;
constexpr std::size_t kLeastWhileTelling = 6 * kMiB;
constexpr std::size_t kLeastForNecessary = kMiB;
constexpr std::size_t kLeastLook = 64 * kKiB;
// So much of its time may the guardian spend on close looks: one part in 20.
constexpr std::int64_t kCloseLookShare = 20;
constexpr std::int64_t kUrgentLookShare = 4;
constexpr std::int64_t kEpisodeNs = 2'000'000'000;
// How long telling an error may take, and after how long without growth nothing runs away.
constexpr std::int64_t kLenientNs = 3'000'000'000;
constexpr std::int64_t kStillNs = 200'000'000;
// What may be allocated at once while an error is told: an arena of Python's small objects, and a
// little.
constexpr std::size_t kForTelling = 5 * kMiB / 4;
constexpr std::int64_t kOfferNs = 50'000'000;
constexpr std::int64_t kOfferSoonNs = 5'000'000;
constexpr std::int64_t kChildNs = 300'000'000;
constexpr std::size_t kGrowth = 512 * kKiB;
constexpr int kPriority = -10;

// Minor page faults of a thread so far: the tenth field of its stat, the name being in brackets.
std::uint64_t faults_of(const char* thread) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%s/stat", thread);
  const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  std::array<char, 512> text{};
  const ssize_t n = read(fd, text.data(), text.size());
  close(fd);
  if (n <= 0) return 0;
  const std::string_view stat(text.data(), static_cast<std::size_t>(n));
  auto at = stat.rfind(')');
  for (int field = 2; field < 10 && at != std::string_view::npos; ++field) {
    at = stat.find(' ', at + 1);
  }
  std::uint64_t faults = 0;
  if (at != std::string_view::npos) {
    std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), faults);
  }
  return faults;
}

std::string text_of(const Room& room, const Guardian::Request& request, std::size_t left) {
  return std::string("spillway kept the process alive: ") + request.what + " of " +
         format_bytes(request.bytes) + " does not fit; " + room.bound_by + " allows " +
         format_bytes(room.limit) + ", " + format_bytes(room.used) + " are in use (" +
         format_bytes(Budget::process().used()) + " by pipelines)" +
         (room.untouched >= kMiB
              ? ", " + format_bytes(room.untouched) + " more are allocated and not filled yet"
              : std::string()) +
         ", " + format_bytes(left) + " are left";
}

// What small allocations of libraries may map although nothing is left for large ones.
std::size_t for_small(const Room& room) {
  const std::size_t unused = room.unused();
  if (unused > kLeastWhileTelling + kForTelling) {
    return std::min(unused - kLeastWhileTelling, kSmallOnes);
  }
  // A thread that cannot have its variables ends the process, so even the last is given.
  return unused > kGrant ? kForTelling : 0;
}

}  // namespace

// Installed once; what was there before goes on after it.
std::new_handler others = nullptr;

void when_new_fails() {
  if (Guardian::process().grant_a_little()) return;
  if (others == nullptr) throw std::bad_alloc();
  others();
}

Guardian& Guardian::process() {
  static Guardian& one = *new Guardian;
  return one;
}

void Guardian::start(Raise raise) {
  static const bool kHandles = [] {
    others = std::set_new_handler(when_new_fails);
    return true;
  }();
  const MutexLock lock(mutex_);
  raise_ = std::move(raise);
  if (!kHandles || running_ || !home_.here()) return;
  // Signals are for the user's threads: Ctrl-C must wake the one that waits.
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto own = static_cast<std::int64_t>(RoomGauge::process().look().own);
  not_counted_ = std::clamp<std::int64_t>(own - counted(), 0, kInterpreter);
  try {
    stopping_ = false;
    thread_ = std::thread([this] { loop(); });
    running_ = true;
  } catch (const std::system_error&) {
    running_ = false;  // no thread to be had: admit() looks for itself
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Guardian::stop() {
  {
    const MutexLock lock(mutex_);
    if (!running_ || !home_.here()) return;
    stopping_ = true;
    wake_.notify_all();
  }
  thread_.join();
  DataLimit::lift(0);
  const MutexLock lock(mutex_);
  running_ = false;
}

// ---- Layer 1: an allocator asks

// A quarter of what was left may be allocated before somebody looks again, counted from what was
// held before `room` was read: on a busy machine much is allocated until this is reached.
void Guardian::allow(const Room& room, std::int64_t held) {
  const std::size_t kept = kept_free(room.limit);
  const std::size_t left = room.left() > kept ? room.left() - kept : 0;
  look_at_ = held + static_cast<std::int64_t>(std::max(left / 4, kLeastLook));
}

void Guardian::error_is_told() { lenient_until_ns_ = now_ns() + kLenientNs; }

bool Guardian::is_lenient() const {
  const std::int64_t now = now_ns();
  if (now < lenient_until_ns_.load()) return true;
  const std::int64_t still = still_since_ns_.load();
  return still != 0 && now - still > kStillNs;
}

std::size_t Guardian::must_leave(const Room& room, const Request& request) const {
  const std::size_t kept = kept_free(room.limit);
  switch (request.size) {
    case Request::Size::kLarge:
      return kept;
    case Request::Size::kSmall:
      return is_lenient() ? std::max(kept / kPartWhileTelling, kLeastWhileTelling)
                          : std::max(kept / kPartForSmall, kLeastForSmall);
    case Request::Size::kNecessary:
      return kLeastForNecessary;
  }
  return kept;
}

// How much somebody may have. What is touched at once does not wait for anybody's arrays to be
// filled, so it is measured by what is really free.
std::size_t Guardian::room_for(const Room& room, const Request& request) const {
  const std::size_t kept = must_leave(room, request);
  const std::size_t left = request.touched ? room.unused() : room.left();
  return left > kept ? left - kept : 0;
}

// A close look takes milliseconds. Between two of them, what asking allocators took since the last
// one may be filled, and stacks of threads are not; nobody is refused for such a guess.
Room Guardian::look_for(const Request& request) {
  Room room = with_allocated(RoomGauge::process().look());
  const bool fits = request.bytes <= room_for(room, request);
  const bool untouched_decides =
      !request.touched && request.bytes + must_leave(room, request) <= room.unused();
  if (fits || !untouched_decides) return room;
  if (request.bytes < kSmallOnes && now_ns() < closely_at_ns_.load()) {
    room.untouched = std::min(room.untouched, known_untouched(room));
    room = with_allocated(room);
    if (request.bytes <= room_for(room, request)) return room;
  }
  return with_allocated(look_closely());
}

// What the last close look found, and what asking allocators took since.
std::size_t Guardian::known_untouched(const Room& room) const {
  const std::int64_t since = std::max<std::int64_t>(counted() - counted_then_.load(), 0);
  return room.settled + static_cast<std::size_t>(since);
}

// What asking allocators hold is in physical memory or will be: mappings do not tell small arrays
// that nobody has written to from a library's reserve.
Room Guardian::with_allocated(Room room) const {
  const std::int64_t held = counted() + not_counted_.load();
  const auto own = static_cast<std::int64_t>(room.own);
  if (held > own) room.untouched = std::max(room.untouched, static_cast<std::size_t>(held - own));
  return room;
}

bool Guardian::admit_slowly(const Request& request, std::string& refusal) {
  const std::size_t bytes = request.bytes;
  std::int64_t held = counted();
  Room room = look_for(request);
  std::size_t fits = room_for(room, request);
  const auto look_again = [&] {
    held = counted();
    room = look_for(request);
    fits = room_for(room, request);
  };
  // What we hold only for speed goes first.
  if (bytes > fits && Budget::process().reclaim(bytes - fits) > 0) look_again();
  if (bytes > fits && trim_heap(bytes - fits)) look_again();
  allow(room, held);
  if (bytes <= fits) {
    follow_limit(room);
    if (request.size == Request::Size::kNecessary) DataLimit::grant(bytes);
    return true;
  }
  refusal = text_of(room, request, fits);
  // The error will be told by code that needs small objects itself, on its way out of the program.
  if (request.size != Request::Size::kLarge) {
    refused_ns_ = now_ns();
    error_is_told();
  }
  return false;
}

// What was freed and malloc() keeps. Takes 12 ms for 430 MB, so not often, unless as much as is
// wanted was freed since the last time.
bool Guardian::trim_heap(std::size_t wanted) {
  const std::int64_t now = now_ns();
  std::int64_t last = trimmed_ns_.load();
  const bool freed = counted() + static_cast<std::int64_t>(wanted) <= counted_at_trim_.load();
  if (now - last < kTrimEveryNs && !freed) return false;
  if (!trimmed_ns_.compare_exchange_strong(last, now)) return false;
  counted_at_trim_ = counted();
  return malloc_trim(0) != 0;
}

// ---- Layers 2 and 3: the thread

// What was mapped since the last close look may be a thread's stack, which nobody fills: only the
// next one takes it off, but for what an asking allocator has. While the container has something
// left, small allocations must not fail. Nobody gets more once it has not.
void Guardian::follow_limit(const Room& room) {
  granted_ = 0;
  DataLimit::follow(wanted_limit(room));
  // What was mapped since the look is above the limit now, and every small allocation fails.
  const Room since = RoomGauge::process().look();
  if (since.mapped > room.mapped) DataLimit::follow(wanted_limit(since));
}

std::size_t Guardian::wanted_limit(const Room& room) const {
  const std::size_t kept = kept_free(room.limit);
  // What is kept for speed is no reason to refuse anybody: it is given back when it is needed.
  const std::size_t free = room.unused() + SlabPool::process().idle_bytes();
  const std::size_t anybody = std::max(kept / kPartForAnybody, kLeastForSmall);
  const std::size_t taken = std::min(room.untouched, known_untouched(room)) + anybody;
  return room.mapped + std::max(free > taken ? free - taken : 0, for_small(room));
}

bool Guardian::follow_limit_now() {
  {
    const MutexLock lock(mutex_);
    if (!running_ || !home_.here()) return false;
  }
  follow_limit(RoomGauge::process().look());
  return true;
}

void Guardian::loop() {
  pthread_setname_np(pthread_self(), "sw-guardian");
  // Before the threads that fill memory, where that is allowed; it runs for microseconds.
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kPriority));
  const MutexLock lock(mutex_);
  while (!stopping_) {
    mutex_.unlock();
    const nanoseconds pause = look();
    mutex_.lock();
    if (!stopping_) wake_.wait_for(mutex_, pause);
  }
}

nanoseconds Guardian::look() {
  const std::int64_t held = counted();
  Room room = RoomGauge::process().look();
  const std::size_t kept = kept_free(room.limit);
  const bool unsettled = room.untouched > room.settled + kept / 2;
  // Where little of what is free is spoken for, it makes no difference.
  const bool matters = room.untouched > std::max(room.unused() / 4, kept / 8);
  // Somebody may have mapped in one piece what the container has not got.
  const bool urgent = unsettled && room.left() < kept && now_ns() >= urgent_at_ns_;
  const bool due = now_ns() >= closely_at_ns_.load();
  if (urgent || (matters && (unsettled || room.left() < kept) && due)) {
    room = look_closely();
  }
  follow_stillness(room);
  follow_limit(room);
  if (room.unused() > kept) stacks_.keep();
  const bool half_full = room.unused() < room.limit / 2;
  const bool child = half_full && now_ns() < child_until_ns_.load();
  offer_forked_children(half_full);
  if (child || room.unused() < room.limit / 4) offer(room);
  if (room.unused() < kept) room = make_room(room, kept - room.unused());
  SW_TEST_POINT("the guardian has looked");
  allow(with_allocated(room), held);
  note_fullest(room);
  follow_growth(room);
  if (room.unused() >= kept) {
    faults_.clear();
    warned_at_ = 0;
  } else {
    warn(room);
  }
  if (child) return kOften;
  const std::size_t free = room.unused() > kept ? room.unused() - kept : 0;
  return std::clamp<nanoseconds>(milliseconds(free / kFillsPerMs), kOften, kSeldom);
}

Room Guardian::look_closely() {
  close_looks_.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t began = now_ns();
  counted_then_ = counted();
  const Room room = RoomGauge::process().look_closely();
  const std::int64_t ended = now_ns();
  closely_at_ns_ = ended + (ended - began) * kCloseLookShare;
  urgent_at_ns_ = ended + (ended - began) * kUrgentLookShare;
  return room;
}

// Small allocations are let through again once nothing grows any more.
void Guardian::follow_stillness(const Room& room) {
  if (still_since_ns_.load() != 0 && room.own <= still_own_ + kGrowth) return;
  still_own_ = room.own;
  still_since_ns_ = now_ns();
}

void Guardian::offer(const Room& room) {
  const std::int64_t now = now_ns();
  const bool hurry = room.unused() < kept_free(room.limit) || now < child_until_ns_.load();
  if (now - offered_ns_ < (hurry ? kOfferSoonNs : kOfferNs)) return;
  offered_ns_ = now;
  offer_children();
}

Room Guardian::make_room(const Room& room, std::size_t wanted) {
  const bool gave = Budget::process().reclaim(wanted) > 0 || trim_heap(wanted);
  return gave ? RoomGauge::process().look() : room;
}

// Growth is counted from where the process was smallest, or last stood still for a while.
void Guardian::follow_growth(const Room& room) {
  const Moment now{now_ns(), room.own, arrays(), Budget::process().used()};
  if (since_.at_ns == 0 || room.own < since_.own) since_ = recent_ = now;
  if (now.at_ns - recent_.at_ns < kEpisodeNs) return;
  if (room.own < recent_.own + room.limit / 64) since_ = now;
  recent_ = now;
}

void Guardian::note_fullest(const Room& room) {
  const std::int64_t now = now_ns();
  const MutexLock lock(mutex_);
  if (now - fullest_ns_ < kEpisodeNs && room.unused() >= fullest_.unused()) return;
  fullest_ = room;
  fullest_ns_ = now;
}

Room Guardian::fullest() {
  const MutexLock lock(mutex_);
  return fullest_ns_ == 0 ? RoomGauge::process().look() : fullest_;
}

// A thread is stopped again only if there was more growth: what is there already may stay. Growth
// that a refusal has ended is over.
void Guardian::warn(const Room& room) {
  if (warned_at_ != 0 && room.used < warned_at_ + kept_free(room.limit) / 16) return;
  const bool first = faults_.empty() || refused_ns_.load() >= faults_ns_;
  const bool more = room.own >= faults_own_ + kGrowth;
  // Shared memory has no owner: it is ours if our pages and the container grew at once.
  const bool more_shared =
      room.shared >= faults_shared_ + kGrowth && room.used >= faults_used_ + kGrowth;
  if (!first && !more && !more_shared) return;
  faults_ns_ = now_ns();
  faults_own_ = room.own;
  faults_shared_ = room.shared;
  faults_used_ = room.used;
  const int thread = thread_that_grows();
  if (first || thread == 0) return;
  warned_at_ = room.used;
  ++alarms_;
  Alarm alarm;
  alarm.room = room;
  alarm.kept = kept_free(room.limit);
  alarm.grew = static_cast<std::int64_t>(room.own - since_.own);
  alarm.grew_arrays = arrays() - since_.arrays;
  alarm.grew_ours =
      static_cast<std::int64_t>(Budget::process().used()) - static_cast<std::int64_t>(since_.ours);
  alarm.seconds = static_cast<double>(now_ns() - since_.at_ns) / 1e9;
  alarm.thread = thread;
  alarm.at_ns = now_ns();
  Raise raise;
  {
    const MutexLock lock(mutex_);
    raise = raise_;
  }
  if (raise) raise(alarm);
}

// The thread with the most page faults since the last look; 0: none had any to speak of.
int Guardian::thread_that_grows() {
  std::vector<Faults> now;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* each = readdir(tasks)) {
    const int thread = std::atoi(each->d_name);
    if (thread > 0) now.push_back({thread, faults_of(each->d_name)});
  }
  closedir(tasks);
  int found = 0;
  std::uint64_t most = 0;
  for (const Faults& each : now) {
    const auto before = std::ranges::find(faults_, each.thread, &Faults::thread);
    const std::uint64_t since = each.count - (before == faults_.end() ? 0 : before->count);
    if (since <= most || faults_.empty()) continue;
    most = since;
    found = each.thread;
  }
  faults_ = std::move(now);
  return found;
}

bool Guardian::grant_a_little() {
  thread_local bool inside = false;  // looking may allocate, too
  if (inside) return false;
  inside = true;
  const Room room = RoomGauge::process().look();
  const std::size_t most = kept_free(room.limit) / kPartForAnybody;
  const bool more =
      room.unused() > most / 2 && granted_.fetch_add(kGrant) < most && DataLimit::grant(kGrant);
  inside = false;
  return more;
}

void Guardian::expect_child() {
  child_until_ns_ = now_ns() + kChildNs;
  const MutexLock lock(mutex_);
  wake_.notify_all();
}

bool Guardian::is_tight() {
  const Room room = RoomGauge::process().look();
  return room.unused() < kept_free(room.limit);
}

}  // namespace spillway
