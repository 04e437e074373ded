#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "spillway/guard/worker_pool.h"
#include "spillway/observe/board.h"
#include "spillway/observe/report.h"

namespace spillway {

// How user code in a worker is watched.
struct GuardRules {
  double timeout_s = 0;  // for one element, then its worker is ended; 0: never
  int restarts = 1;      // further attempts for an element whose worker died
  int most = 0;          // calls at a time; 0: as many as the CPUs the process may use
  // An element under way for so long, and 20 times as long as any before, is reported, again and
  // again.
  double report_after_s = 30;
  WorkerKind kind{};  // of the workers it runs in
  // Which of the front's random generators it may draw from: they are seeded for each element.
  std::uint8_t draws = 0;
  std::optional<std::uint64_t> seed = std::nullopt;  // of the pipeline; none: every pass draws one
};

// How many workers may be killed from outside at one element, or call, before that is its error.
inline int most_kills(const GuardRules& rules) { return std::max(3, rules.restarts + 1); }

// Looks at a worker while its answer is waited for: Channel's `give_up`. Ends it at its deadline,
// reports when nothing moves, and keeps the ledger up to date on what it holds.
class Watch {
 public:
  // `what` it does, in words; `first` is the number of its first element, -1: it has none.
  Watch(WorkerPool& pool, WorkerProcess& worker, const GuardRules& rules, std::string what,
        std::int64_t first, const std::atomic<bool>* stop);

  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Whether to stop waiting; then the worker was killed, or nobody wants the answer.
  bool operator()();
  // The latter.
  bool stopped() const { return stopped_; }
  // Whether nobody wants the answer any more, asked while this process waits for memory. That is
  // not the worker's time: go_on() begins it anew.
  bool unwanted();
  void go_on();
  // Where the worker was when it was ended for its deadline.
  const std::string& stack() const { return stack_; }

 private:
  void report(double waited);
  bool late(std::int64_t lasted_ns) const;
  void note_lasted(std::int64_t now) const;
  std::string ask_where();

  WorkerPool& pool_;
  WorkerProcess& worker_;
  const GuardRules& rules_;
  const std::string what_;
  const std::int64_t first_;
  const std::atomic<bool>* const stop_;
  const DoneByWorker on_board_;
  const std::uint32_t text_;  // of the stage on the board; 0: it has none there
  std::int64_t since_;
  std::int64_t sampled_;
  std::int64_t row_ = -1;
  int reports_ = 0;
  bool stopped_ = false;
  std::string stack_;
};

// Where a worker was and what else was going on when it died.
struct Scene {
  std::string at;         // "element 12 of map#2 (decode)"
  std::string file;       // that the element came from; empty: unknown
  std::string recovered;  // what was lost with the worker and made again; empty: nothing
  int attempts = 1;       // workers that died of it
  std::string stack;      // as Watch has it; empty: the death's own
};

// The error for a request whose worker died of it. It tells what is known of the worker, of the
// element and of the memory that `budget` accounts for.
Status worker_died(const Death& death, pid_t pid, const Scene& scene, Budget& budget);

}  // namespace spillway
