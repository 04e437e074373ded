#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/observe/board.h"
#include "spillway/observe/competitors.h"

namespace spillway {

// Who holds how much now.
struct LedgerSample {
  struct Holder {
    std::string text;
    std::uint64_t bytes = 0;
  };
  std::uint64_t used = 0;
  std::uint64_t limit = 0;   // as it is now
  std::uint64_t asked = 0;   // as the user set it
  std::uint64_t others = 0;  // what other processes of the container, or the machine, hold
  std::uint64_t untracked = 0;
  std::uint64_t own = 0;
  std::uint64_t container = 0;
  std::uint64_t container_used = 0;
  std::int64_t oom_kills = -1;
  std::vector<Holder> holders;  // largest first
};

// A pass that is under way, as the watchdog sees it. Called on the watchdog's thread.
class Watched {
 public:
  virtual ~Watched() = default;
  // As Doing was given it.
  virtual const void* run() const = 0;
  // Another number whenever anything has moved.
  virtual std::uint64_t moved() const = 0;
  // How far each stage is, in words.
  virtual std::string progress() const = 0;
  virtual LedgerSample sample() const = 0;
  // The table of holders, in words.
  virtual std::string ledger() const = 0;
  // Once a look: keeps what is wanted of it later.
  virtual void note(std::int64_t /*now_ns*/) const {}
};

// Finds what does not go on. Looks at the board at moments that it is told.
//
// A call of user code, a read or a wait for memory is reported when it lasts longer than the
// longest of its stage should: 30 s, or 20 times the longest that came back; then after twice as
// long, and so on while it lasts. A consumer is reported when nothing of its run has moved for as
// long and none of these can be blamed. What waits for a worker is guard/watch.h's to report.
class StallFinder {
 public:
  struct Stall {
    std::string text;         // all but the stack
    std::uint64_t ident = 0;  // the thread whose stack tells more
  };
  explicit StallFinder(double report_after_s) : base_s_(report_after_s) {}
  std::vector<Stall> look(std::int64_t now_ns, const std::vector<const Watched*>& watched);
  // What the pass that this thread waits for has been at for so long, whatever would be reported:
  // for whoever ends the wait. None: the wait was shorter, or this thread waits for no pass.
  std::vector<Stall> waited_for(std::int64_t now_ns, std::int64_t least_ns);

 private:
  struct Seen {
    std::uint64_t serial = 0;
    std::uint32_t text = 0;
    std::int64_t row = 0;
    std::int64_t since_ns = 0;
    std::int64_t lasted_ns = 0;
    int reports = 0;
  };
  struct Now {  // a level as it was found
    flight::Phase phase = flight::Phase::kNone;
    std::uint32_t text = 0;
    std::int64_t element = -1;
    std::int64_t row = 0;
    std::int64_t amount = 0;
    std::uint64_t run = 0;
    std::uint64_t ident = 0;
    std::string detail;
    Seen* seen = nullptr;
  };
  struct Moved {
    const Watched* watched = nullptr;
    std::uint64_t count = 0;
    std::int64_t at_ns = 0;
  };
  using Threads = std::vector<std::vector<Now>>;
  struct Told {
    const Now* level = nullptr;
    std::size_t others = 0;  // calls of the same stage that are late too
  };
  Threads read_board(std::int64_t now_ns);
  void note_moves(std::int64_t now_ns, const std::vector<const Watched*>& watched);
  bool overdue(const Now& level) const;
  bool to_blame(const Now& consumer, const Threads& threads, std::int64_t now_ns) const;
  std::vector<Told> late(const Threads& threads, std::int64_t now_ns) const;
  std::size_t join_soon_due(const Now& told, const std::vector<const Now*>& due,
                            const Threads& threads) const;
  static bool alike(const Now& a, const Now& b) { return a.text == b.text && a.phase == b.phase; }
  static std::string describe(const Told& told, const std::vector<const Watched*>& watched);

  const double base_s_;
  std::array<std::array<Seen, flight::kLevels>, flight::kThreads> seen_{};
  std::vector<Moved> moved_;
};

// The thread that looks, and keeps the record. It runs while something is watched, and ends some
// seconds after. Never destroyed; a forked child has none.
class Watchdog {
 public:
  static Watchdog& process();

  void watch(const Watched& watched);
  // From then on it is not looked at; waits for a look in progress.
  void unwatch(const Watched& watched);

  // Where a thread's user code is; empty: unknown. Asked on the watchdog's thread, may take a
  // second.
  using StackOf = std::string (*)(std::uint64_t ident);
  void set_stacks(StackOf stack_of) { stack_of_ = stack_of; }
  // Told what other processes took; on the watchdog's thread, without locks of ours.
  using TellTaken = void (*)(const Competition& taken);
  void set_tell_taken(TellTaken tell) { tell_taken_ = tell; }
  // Called every ten seconds while a pass is open, in the same way: for what only a front can see.
  using LookAround = void (*)();
  void set_look_around(LookAround look) { look_around_ = look; }
  // For passes that begin from now on. SPILLWAY_REPORT_AFTER sets the first one.
  void set_report_after(double seconds);
  double report_after() const { return report_after_s_; }
  // No more reports: the process is about to end.
  void silence() { silent_ = true; }

 private:
  Watchdog();
  void loop();
  void tell(const std::vector<StallFinder::Stall>& stalls);
  void take_snapshot(const Watched& watched, std::int64_t now);
  void tell_taken();

  std::vector<StallFinder::Stall> look(StallFinder& finder, bool& idle);

  Mutex look_mutex_;  // held during a look, which waits for nothing; before mutex_
  Mutex mutex_;
  std::vector<const Watched*> watched_ SW_GUARDED_BY(mutex_);
  bool running_ SW_GUARDED_BY(mutex_) = false;
  bool forget_ SW_GUARDED_BY(mutex_) = false;  // the snapshots: their texts are gone
  std::atomic<double> report_after_s_;
  std::atomic<StackOf> stack_of_{nullptr};
  std::atomic<TellTaken> tell_taken_{nullptr};
  std::atomic<LookAround> look_around_{nullptr};
  std::atomic<bool> silent_{false};
  // The thread's own.
  std::uint64_t snapshots_ = 0;
  std::int64_t next_snapshot_ns_ = 0;
  std::int64_t looked_around_ns_ = 0;
  LedgerSample seen_;  // by the last snapshot; asked is 0: none since
};

// How long something may last before it is reported, the n-th time.
std::int64_t patience_ns(double base_s, std::int64_t longest_ns, int reports);

}  // namespace spillway
