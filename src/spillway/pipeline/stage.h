#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/memory/budget.h"
#include "spillway/pipeline/policy.h"
#include "spillway/pipeline/spec.h"
#include "spillway/tensor/origin.h"

namespace spillway {

class Run;

// An amount that grows.
struct Tally {
  std::atomic<std::int64_t> rows{0};
  std::atomic<std::int64_t> weight{0};
  void add(const Amount& more) {
    rows += more.rows;
    weight += more.weight;
  }
  Amount read() const { return {rows, weight}; }
};

// What one stage did. Written by whichever thread runs it, read at any time: rows are counted as
// come in before they are counted as anything else.
struct StageStats {
  Tally in;    // from its inputs and the datasets it opened; a source: made, and not handed on yet
  Tally out;   // handed on
  Tally used;  // of those in: went into outputs, as far as Ratio does not say so already
  Tally filtered;
  Tally skipped;
  Tally failed;
  Tally dropped;  // with a failed batch, a remainder, after the end
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::int64_t> busy_ns{0};
  std::atomic<std::int64_t> wait_ns{0};  // for its inputs and workers
  std::atomic<std::int64_t> parallelism{1};
  std::atomic<std::int64_t> spilled_bytes{0};
  std::atomic<std::int64_t> effective{0};  // buffer size really used, where it was asked for one
  bool aside = false;                      // in no audit; set before it is used
};

// One operator at work in one run. All iterators of a node in a run (one an epoch) share it.
class Stage {
 public:
  // `stats` belong to the run: the stages of nested datasets are many and count as one.
  Stage(Run& run, NodePtr node, std::string name, AccountPtr account, StageStats& stats)
      : run_(run),
        node_(std::move(node)),
        name_(std::move(name)),
        account_(std::move(account)),
        stats_(stats) {}

  Run& run() const { return run_; }
  const Node& node() const { return *node_; }
  const NodePtr& node_ptr() const { return node_; }
  const std::string& name() const { return name_; }  // "map#2"
  const AccountPtr& account() const { return account_; }
  StageStats& stats() const { return stats_; }

  const OnError& policy() const { return policy_; }
  Status set_policy(OnError policy);  // opens its quarantine
  Status set_own_policy();            // the node's
  void set_retries(const OnError& from);

  // Adds stage, line and epoch to an error of this stage's own (not to one passing through).
  void stamp(Status& error, std::int64_t epoch) const;

  // Bytes of the largest row handed on so far. Where no spec says how large rows are, this does.
  std::size_t largest_row() const { return largest_row_; }
  void note_row(std::size_t bytes) {
    if (bytes > largest_row_) largest_row_ = bytes;  // a race loses only an estimate
  }
  // Before user code makes a row nobody can reserve: waits until one like the largest has room.
  Status admit() { return account_->wait_for_room(largest_row_); }
  // R2 for sizes that only the elements tell: the guarantee follows the largest one seen.
  // FloorTooHigh when the limit cannot hold one element of every stage.
  Status guarantee();

  // R3: rows that are handed on are what their maker's guarantee is for, also those that were made
  // ahead, from the pool. Whoever takes them then has room for one like them.
  void settle(const Chunk& rows);

  // Applies the policy to an error leaving this stage, and counts what is lost with it: once, at
  // the stage that failed, whichever stage settles it. True: go on with the next row. False: hand
  // `error` on (it may have become TooManyErrors).
  bool settle(Status& error);
  // The source met its end right after `error`, after which it might have gone on: perhaps it ended
  // early. Said in the audit, and as a warning.
  void ended_after(const Status& error);
  // An interruption (interruption.h) of the call for row `index`: kept, since whoever called may
  // have rows to hand on first and ask again. The same call then meets it again, until it was told:
  // it reached whoever asked for elements.
  Status keep_interruption(Status error, std::int64_t index, std::int64_t epoch);
  // That of the call for row `index`, if it was not told; ok: there is none.
  Status kept_interruption(std::int64_t index, std::int64_t epoch);

  // Counts input rows as dropped, with an entry that says why.
  void drop(const Amount& rows, std::string_view why, std::string origin = "");

 private:
  bool is_skipped(Status& error);
  void count(Status& error, bool skipped);
  void warn_of(const Status& error) const;

  Run& run_;
  const NodePtr node_;
  const std::string name_;
  const AccountPtr account_;
  StageStats& stats_;
  OnError policy_;
  std::shared_ptr<Quarantine> quarantine_;
  std::atomic<std::int64_t> errors_{0};
  std::atomic<std::size_t> largest_row_{0};
  std::atomic<std::size_t> guaranteed_{0};

  struct Interruption {
    std::int64_t index;
    std::int64_t epoch;
    Status error;
  };
  Mutex mutex_;
  std::vector<Interruption> interruptions_ SW_GUARDED_BY(mutex_);  // one a call under way
  std::atomic<bool> any_interruptions_{false};
};
using StagePtr = std::shared_ptr<Stage>;

}  // namespace spillway
