#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "spillway/base/mutex.h"

namespace spillway {

struct LedgerSample;

// Another process that holds memory which this one then has not.
struct Competitor {
  std::int64_t pid = 0;
  std::string command;  // its command line, shortened; a stranger's text
  std::uint64_t resident = 0;
  std::uint64_t grown = 0;  // since it was looked at before; all of it, if it began since
};

// What the limit lost to others, and to whom.
struct Competition {
  std::uint64_t asked = 0;   // the limit as it was set
  std::uint64_t limit = 0;   // as it is now
  std::uint64_t others = 0;  // what all other processes hold, by the container's or machine's count
  std::uint64_t taken = 0;   // how much that grew
  std::vector<Competitor> by;  // most first; empty: nobody that can be seen from here
};

// This process's own helpers are no competitors, nor are their children: what they hold is in the
// ledger. `pid` is one while it lives.
void disregard_process(pid_t pid);

// Sees that the budget shrinks because other processes grow, and finds out who they are. Reading
// /proc takes milliseconds where there are many processes: it is read at the first look, then once
// a minute, and when memory was taken. Thread-safe.
class CompetitorWatch {
 public:
  // `root` replaces "/" in tests.
  explicit CompetitorWatch(std::string root = "") : root_(std::move(root)) {}

  // One for the watchdog and whoever asks in between. Never destroyed.
  static CompetitorWatch& process();

  // With every sample of the ledger. What the user should be told: a process at most once a
  // minute.
  std::vector<Competition> look(std::int64_t now_ns, const LedgerSample& sample);

  // Who grew most since the last reading, now; none before the first look.
  std::vector<Competitor> now();

 private:
  struct Known {
    std::uint64_t started = 0;
    std::uint64_t resident = 0;
    pid_t parent = 0;
    std::string name;
  };
  using Processes = std::unordered_map<std::int64_t, Known>;

  Processes read() const;
  std::vector<Competitor> grown(const Processes& now) const SW_REQUIRES(mutex_);
  void remember(std::int64_t now_ns, const LedgerSample& sample, Processes found)
      SW_REQUIRES(mutex_);

  const std::string root_;
  Mutex mutex_;
  Processes before_ SW_GUARDED_BY(mutex_);
  std::int64_t read_at_ SW_GUARDED_BY(mutex_) = 0;  // 0: never
  std::uint64_t others_before_ SW_GUARDED_BY(mutex_) = 0;
  std::uint64_t own_before_ SW_GUARDED_BY(mutex_) = 0;
  std::uint64_t limit_before_ SW_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::int64_t, std::int64_t> told_at_ SW_GUARDED_BY(mutex_);  // by pid
};

// In words, with what to do.
std::string to_string(const Competition& competition);

}  // namespace spillway
