#include "spillway/pipeline/run.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/audit.h"
#include "spillway/pipeline/order_log.h"

namespace spillway {
namespace {

constexpr std::size_t kMostEntries = 10'000;
constexpr std::size_t kMoreEarly = 1'000;  // of what ended early: never lost among the others
constexpr std::int64_t kMostWarnings = 100;
constexpr std::size_t kFirstEntries = 32;

thread_local const AccountPtr* user_code_account = nullptr;

// The process that started the engine's threads.
pid_t engine_process() {
  static const pid_t kProcess = getpid();
  return kProcess;
}

}  // namespace

Status check_not_forked() {
  if (getpid() == engine_process()) return {};
  return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                       "this process was forked from one that runs pipelines: threads do not "
                       "survive a fork; open the dataset in the child before the parent iterates, "
                       "or start the child with the 'spawn' or 'forkserver' method");
}

UserCodeScope::UserCodeScope(const AccountPtr& account)
    : before_(std::exchange(user_code_account, &account)) {}
UserCodeScope::~UserCodeScope() { user_code_account = before_; }
const AccountPtr* UserCodeScope::current() { return user_code_account; }

Run::Run(NodePtr root, RunOptions options, Budget& budget)
    : root_(std::move(root)),
      options_(std::move(options)),
      budget_(budget),
      child_(UserCodeScope::current() != nullptr) {}

Result<std::shared_ptr<Run>> Run::open(NodePtr root, RunOptions options, Budget& budget) {
  std::shared_ptr<Run> run(new Run(std::move(root), std::move(options), budget));
  const AccountPtr* outer = UserCodeScope::current();
  const std::string name =
      run->options_.pipeline_name.empty() ? "pipeline" : run->options_.pipeline_name;
  run->account_ = budget.open_account(name, run->root_->line(), outer ? *outer : nullptr);
  run->orders_ = std::make_shared<OrderBook>(run->account_);
  run->add_stages();
  SW_RETURN_IF_ERROR(run->set_policies());
  SW_RETURN_IF_ERROR(run->reserve_floors());
  return run;
}

Run::~Run() {
  for (const StagePtr& stage : stages_) stage->account()->drop_floor();
}

void Run::add_stages() {
  std::unordered_map<const Node*, NodePtr> owned{{root_.get(), root_}};
  const std::vector<const Node*> nodes = inputs_first(*root_);
  for (const Node* node : nodes) {
    for (const NodePtr& input : node->inputs()) owned.emplace(input.get(), input);
  }
  for (const Node* node : nodes) {
    std::string name = node->name().empty()
                           ? std::string(node->op().name) + "#" + std::to_string(stages_.size())
                           : node->name();
    AccountPtr account = budget_.open_account(name, node->line(), account_);
    account->set_stop(&stop_);
    // R11: inside another pipeline's user code this one lives on that stage's guarantee.
    if (const AccountPtr* outer = UserCodeScope::current()) account->borrow_from(*outer);
    auto stage = std::make_shared<Stage>(*this, owned.at(node), std::move(name), std::move(account),
                                         stats_.emplace_back());
    by_node_.emplace(node, stage);
    stages_.push_back(std::move(stage));
  }
}

Status Run::set_policies() {
  for (const StagePtr& stage : stages_) SW_RETURN_IF_ERROR(stage->set_own_policy());
  return {};
}

Result<std::shared_ptr<Quarantine>> Run::quarantine(const std::string& path) {
  const MutexLock lock(mutex_);
  std::shared_ptr<Quarantine>& file = quarantines_[path];
  if (file == nullptr) {
    SW_ASSIGN(file, Quarantine::open(path));
  }
  return file;
}

// R2: one output a stage that makes any, where its size is known before the first element.
Status Run::reserve_floors() {
  if (!has_floors()) return {};
  for (const StagePtr& stage : stages_) {
    for (const Value& param : stage->node().params()) {
      const auto* function = std::get_if<FunctionPtr>(&param);
      if (function != nullptr && *function != nullptr) {
        guarantees_.push_back((*function)->guarantee());
      }
    }
    const StructurePtr& structure = stage->node().structure();
    const std::int64_t bytes = structure == nullptr ? -1 : structure->static_bytes();
    if (bytes <= 0 || stage->node().op().passes_rows) continue;
    // Buffers are rounded up to slab classes: guarantee what one will really take.
    const auto rounded =
        static_cast<std::size_t>(bytes) + static_cast<std::size_t>(bytes) / 8 + 4096;
    if (!stage->account()->raise_floor(rounded).ok()) return floors_refused(*stage);
  }
  return {};
}

Status Run::floors_refused(const Stage& stage) const {
  std::string table;
  for (const StagePtr& each : stages_) {
    if (each->node().op().passes_rows) continue;
    const StructurePtr& s = each->node().structure();
    const std::int64_t stated = s == nullptr ? -1 : s->static_bytes();
    const std::size_t one = stated < 0 ? each->largest_row() : static_cast<std::size_t>(stated);
    table += "  " + each->name() + " needs " +
             (one == 0 && stated < 0 ? "an unknown amount" : format_bytes(one)) +
             " for one element" + (each->node().line().empty() ? "" : ", " + each->node().line()) +
             "\n";
  }
  Status refused = out_of_resource("the limit must hold one element of every stage at once: limit ",
                                   format_bytes(budget_.effective_limit()), "\n", table,
                                   budget_.ledger().to_string(),
                                   "raise memory_limit, or make batches smaller\n");
  refused.edit().type = "FloorTooHigh";
  refused.edit().stage = stage.name();
  refused.edit().line = stage.node().line();
  return refused;
}

StagePtr Run::stage_of(const Node& node) const {
  const auto it = by_node_.find(&node);
  return it == by_node_.end() ? nullptr : it->second;
}

Result<IteratorPtr> Run::open_root() {
  return root_->op().open(OpenContext(stage_of(*root_), 0, Origin()));
}

StageStats& Run::nested_stats(const std::string& name, const Node& node, bool aside) {
  const MutexLock lock(mutex_);
  if (const auto known = nested_by_name_.find(name); known != nested_by_name_.end()) {
    return known->second->stats;
  }
  Nested& made = nested_.emplace_back(name, node.line(), node.op());
  made.stats.aside = aside;
  nested_by_name_.emplace(made.name, &made);
  return made.stats;
}

std::vector<const Run::Nested*> Run::nested() const {
  const MutexLock lock(mutex_);
  std::vector<const Nested*> out;
  out.reserve(nested_.size());
  for (const Nested& each : nested_) out.push_back(&each);
  return out;
}

// The first entries always have room, later ones where nobody else needs it.
bool Run::room_for_entry(bool always) {
  const std::size_t bytes = bytes_of(entries_.back());
  std::optional<Reservation> more = always || entries_.size() <= kFirstEntries
                                        ? account_->owe(bytes)
                                        : account_->try_reserve(bytes);
  if (!more) return false;
  more->touch();
  return entries_paid_.absorb(*more);
}

std::int64_t Run::record(AuditEntry entry, std::int64_t old) {
  // The element itself is not kept: it would hold its bytes until the end of the epoch.
  ErrorInfo info = entry.why.info();
  info.input = nullptr;
  info.cause = nullptr;
  entry.why = Status(std::move(info));
  const MutexLock lock(mutex_);
  if (old >= 0) {
    entries_[static_cast<std::size_t>(old)] = std::move(entry);
    return old;
  }
  const bool early = entry.outcome == "ended early" || entry.ends_file;
  if (entries_.size() >= kMostEntries + (early ? kMoreEarly : 0)) {
    ++entries_lost_;
    return -1;
  }
  entries_.push_back(std::move(entry));
  if (!room_for_entry(early)) {
    entries_.pop_back();
    ++entries_lost_;
    return -1;
  }
  return std::ssize(entries_) - 1;
}

void Run::warn(Warned what, std::string text) {
  const MutexLock lock(mutex_);
  if (what == Warned::kElement && ++warned_ > kMostWarnings) {
    if (warned_ > kMostWarnings + 1) return;
    text =
        "further elements that are left out in this pass bring no warning; the dataset's audit()"
        " names them";
  }
  warnings_.push_back(std::move(text));
  has_warnings_ = true;
}

std::vector<std::string> Run::take_warnings() {
  const MutexLock lock(mutex_);
  has_warnings_ = false;
  return std::exchange(warnings_, {});
}

std::vector<AuditEntry> Run::entries() const {
  const MutexLock lock(mutex_);
  return entries_;
}

std::int64_t Run::entries_lost() const {
  const MutexLock lock(mutex_);
  return entries_lost_;
}

}  // namespace spillway
