#include "spillway/observe/watchdog.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "spillway/base/clock.h"
#include "spillway/base/thread.h"
#include "spillway/observe/report.h"

namespace spillway {
namespace {

constexpr double kReportAfterS = 30;
constexpr std::int64_t kTickNs = 100'000'000;
constexpr std::int64_t kIdleNs = 2'000'000'000;
// A snapshot may take this part of the time: where the ledger is long, there are fewer.
constexpr std::int64_t kShare = 100;
constexpr std::int64_t kLookAroundNs = 10'000'000'000;
// Passes whose timelines are kept; more at a time than that are a test's.
constexpr std::size_t kMostNoted = 32;

double report_after_from_environment() {
  const char* const text = std::getenv("SPILLWAY_REPORT_AFTER");
  const double given = text == nullptr ? 0 : std::strtod(text, nullptr);
  return given > 0 ? given : kReportAfterS;
}

// Signals are for the user's threads.
void leave_signals_to_others() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

void keep_report(const std::string& text) {
  flight::Region* const region = Board::process().made();
  if (region == nullptr) return;
  flight::Header& header = region->header;
  const std::size_t size = std::min(text.size(), header.report.size());
  header.reported.store(0, std::memory_order_release);
  std::memcpy(header.report.data(), text.data(), size);
  header.reported_ns.store(now_ns(), std::memory_order_relaxed);
  header.reported.store(static_cast<std::uint32_t>(size), std::memory_order_release);
  ++header.reports;
}

}  // namespace

Watchdog::Watchdog() : report_after_s_(report_after_from_environment()) {}

Watchdog& Watchdog::process() {
  static auto& one = *new Watchdog;
  return one;
}

void Watchdog::set_report_after(double seconds) {
  report_after_s_ = seconds > 0 ? seconds : report_after_from_environment();
}

void Watchdog::watch(const Watched& watched) {
  Board& board = Board::process();
  flight::Region* const region = board.region();
  if (region == nullptr || board.forked()) return;
  const MutexLock lock(mutex_);
  if (watched_.empty() && board.forget_texts()) forget_ = true;
  watched_.push_back(&watched);
  region->header.open = std::ssize(watched_);
  if (running_) return;
  // Without a thread nothing is watched; everything else goes on.
  running_ = start_thread([this] { loop(); }).ok();
}

void Watchdog::unwatch(const Watched& watched) {
  const Board& board = Board::process();
  if (board.made() == nullptr || board.forked()) return;
  {
    const MutexLock lock(mutex_);
    std::erase(watched_, &watched);
    board.made()->header.open = std::ssize(watched_);
  }
  const MutexLock looked(look_mutex_);
}

void Watchdog::loop() {
  leave_signals_to_others();
  double base = report_after_s_;
  auto finder = std::make_unique<StallFinder>(base);
  std::int64_t idle_since = 0;
  for (;;) {
    // Short deadlines are for tests: they want to be looked at more often.
    const auto tick =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(base * 2e8), 1'000'000, kTickNs);
    std::this_thread::sleep_for(std::chrono::nanoseconds(tick));
    if (base != report_after_s_) {
      base = report_after_s_;
      finder = std::make_unique<StallFinder>(base);
    }
    bool idle = false;
    tell(look(*finder, idle));
    tell_taken();
    const std::int64_t now = now_ns();
    if (!idle) {
      idle_since = now;
    } else if (now - idle_since > kIdleNs) {
      const MutexLock lock(mutex_);
      if (!watched_.empty()) continue;
      running_ = false;
      return;
    }
  }
}

std::vector<StallFinder::Stall> Watchdog::look(StallFinder& finder, bool& idle) {
  const MutexLock looking(look_mutex_);
  std::vector<const Watched*> watched;
  {
    const MutexLock lock(mutex_);
    watched = watched_;
    if (std::exchange(forget_, false)) {
      Board::process().made()->header.snapshots = snapshots_ = 0;
    }
  }
  idle = watched.empty();
  const std::int64_t now = now_ns();
  Board::process().made()->header.seen_ns.store(now, std::memory_order_relaxed);
  if (!idle && now >= next_snapshot_ns_) take_snapshot(*watched.front(), now);
  for (std::size_t i = 0; i < std::min(watched.size(), kMostNoted); ++i) watched[i]->note(now);
  return finder.look(now, watched);
}

void Watchdog::tell(const std::vector<StallFinder::Stall>& stalls) {
  for (const StallFinder::Stall& stall : stalls) {
    if (silent_) return;
    std::string text = stall.text;
    const StackOf stack_of = stack_of_;
    const std::string stack = stack_of == nullptr ? "" : stack_of(stall.ident);
    if (!stack.empty())
      text += (text.ends_with('\n') ? "It is here:\n" : ". It is here:\n") + stack;
    keep_report(text);
    guard_report(text);
  }
}

void Watchdog::tell_taken() {
  const std::int64_t now = now_ns();
  const TellTaken tell = tell_taken_;
  const LedgerSample sample = std::exchange(seen_, {});
  if (tell != nullptr && !silent_ && sample.asked > 0) {
    for (const Competition& each : CompetitorWatch::process().look(now, sample)) tell(each);
  }
  const LookAround look_around = look_around_;
  if (look_around == nullptr || silent_ || now - looked_around_ns_ < kLookAroundNs) return;
  looked_around_ns_ = now;
  look_around();
}

void Watchdog::take_snapshot(const Watched& watched, std::int64_t now) {
  const LedgerSample sample = watched.sample();
  seen_ = sample;
  flight::Region& region = *Board::process().made();
  flight::Snapshot& to = region.snapshots[snapshots_ % flight::kSnapshots];
  to.serial.exchange(0, std::memory_order_acq_rel);  // before any of what follows
  to.at_ns = now;
  to.used = sample.used;
  to.limit = sample.limit;
  to.untracked = sample.untracked;
  to.own = sample.own;
  to.container = sample.container;
  to.container_used = sample.container_used;
  to.oom_kills = sample.oom_kills;
  for (std::size_t i = 0; i < flight::kHolders; ++i) {
    const bool there = i < sample.holders.size();
    to.holders[i] = there ? Board::process().text(sample.holders[i].text) : 0;
    to.held[i] = there ? sample.holders[i].bytes : 0;
  }
  to.serial.store(++snapshots_, std::memory_order_release);
  region.header.snapshots.store(snapshots_, std::memory_order_release);
  next_snapshot_ns_ = now + std::max(kTickNs, (now_ns() - now) * kShare) - kTickNs / 10;
}

}  // namespace spillway
