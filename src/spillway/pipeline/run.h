#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/memory/budget.h"
#include "spillway/pipeline/operator.h"

namespace spillway {

class OrderBook;

// Chosen for a whole run; from the nearest with_options, else the front's configuration.
struct RunOptions {
  bool deterministic = true;               // of stages that do not say so themselves
  std::int64_t read_ahead_ns = 1'000'000;  // 0: user code is called exactly as demanded
  int threads = 0;                         // 0: as many as the process may use
  std::uint64_t jitter_seed = 0;           // tests: disturbs the scheduling
  std::string pipeline_name;
  bool floors = true;  // false: no guarantees (R2), what is needed comes from the pool
};

// A fork has none of the engine's threads: kUser error in a child of a process that ran pipelines.
Status check_not_forked();

// One pass of a consumer over a pipeline: its stages, accounts, audit. Outlives its iterators.
class Run : public std::enable_shared_from_this<Run> {
 public:
  static Result<std::shared_ptr<Run>> open(NodePtr root, RunOptions options, Budget& budget);
  ~Run();

  const NodePtr& root() const { return root_; }
  const RunOptions& options() const { return options_; }
  Budget& budget() const { return budget_; }
  const AccountPtr& account() const { return account_; }
  // In the order of the pipeline, sources first.
  const std::vector<StagePtr>& stages() const { return stages_; }
  StagePtr stage_of(const Node& node) const;

  // Not when opened inside another pipeline's user code: lives on that stage's guarantee (R11).
  bool has_floors() const { return options_.floors && !child_; }
  // What every stage needs for one element, as the error for a limit that cannot hold them all.
  Status floors_refused(const Stage& stage) const;

  Result<IteratorPtr> open_root();

  void request_stop() { stop_ = true; }
  const std::atomic<bool>& stop() const { return stop_; }

  // What the stages of nested datasets count, one for all that have the same name.
  struct Nested {
    Nested(std::string stage, std::string written, const OperatorDef& by)
        : name(std::move(stage)), line(std::move(written)), op(by) {}
    const std::string name;
    const std::string line;
    const OperatorDef& op;
    StageStats stats;
  };
  StageStats& nested_stats(const std::string& name, const Node& node, bool aside);
  // In the order they were first opened.
  std::vector<const Nested*> nested() const;

  // The order in which stages hand on what is ready first.
  OrderBook& orders() const { return *orders_; }

  // One an opened file: stages, and the passes over a nested dataset, share it.
  Result<std::shared_ptr<Quarantine>> quarantine(const std::string& path);

  // Keeps an entry for the audit, in the place of entry `old` if that is not negative. Its number,
  // or -1 when there are too many.
  std::int64_t record(AuditEntry entry, std::int64_t old = -1);
  // What the front shall warn of on its consumer's thread. Of warnings of elements, of which there
  // may be any number, the first hundred are kept.
  enum class Warned : std::uint8_t { kElement, kSource };
  void warn(Warned what, std::string text);
  bool has_warnings() const { return has_warnings_; }
  std::vector<std::string> take_warnings();

  std::vector<AuditEntry> entries() const;
  std::int64_t entries_lost() const;

 private:
  Run(NodePtr root, RunOptions options, Budget& budget);
  void add_stages();
  bool room_for_entry(bool always) SW_REQUIRES(mutex_);
  Status set_policies();
  Status reserve_floors();

  const NodePtr root_;
  const RunOptions options_;
  Budget& budget_;
  const bool child_;
  AccountPtr account_;
  std::vector<StagePtr> stages_;
  std::vector<std::shared_ptr<void>> guarantees_;  // of their functions
  std::unordered_map<const Node*, StagePtr> by_node_;
  std::deque<StageStats> stats_;  // of stages_
  std::shared_ptr<OrderBook> orders_;
  std::atomic<bool> stop_{false};
  mutable Mutex mutex_;
  std::vector<AuditEntry> entries_ SW_GUARDED_BY(mutex_);  // bounded
  std::int64_t entries_lost_ SW_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> warnings_ SW_GUARDED_BY(mutex_);  // not shown yet
  std::int64_t warned_ SW_GUARDED_BY(mutex_) = 0;            // of elements
  std::atomic<bool> has_warnings_{false};                    // whether warnings_ has any
  std::unordered_map<std::string, std::shared_ptr<Quarantine>> quarantines_ SW_GUARDED_BY(mutex_);
  std::deque<Nested> nested_ SW_GUARDED_BY(mutex_);
  std::unordered_map<std::string_view, Nested*> nested_by_name_ SW_GUARDED_BY(mutex_);
  Reservation entries_paid_ SW_GUARDED_BY(mutex_);
};

// Set while a thread runs user code for a stage: a pipeline opened there becomes its child (R11).
class UserCodeScope {
 public:
  explicit UserCodeScope(const AccountPtr& account);
  ~UserCodeScope();
  UserCodeScope(const UserCodeScope&) = delete;
  UserCodeScope& operator=(const UserCodeScope&) = delete;
  static const AccountPtr* current();

 private:
  const AccountPtr* before_;
};

}  // namespace spillway
