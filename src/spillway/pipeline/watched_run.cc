#include "spillway/pipeline/watched_run.h"

#include <algorithm>
#include <sstream>

#include "spillway/guard/death.h"
#include "spillway/memory/machine.h"

namespace spillway {
namespace {

constexpr std::int64_t kPointEveryNs =
    90'000'000;  // each look of the watchdog, a little late or not

std::uint64_t moved_by(const StageStats& stats) {
  return static_cast<std::uint64_t>(stats.in.rows) + static_cast<std::uint64_t>(stats.out.rows) +
         static_cast<std::uint64_t>(stats.filtered.rows) +
         static_cast<std::uint64_t>(stats.failed.rows) +
         static_cast<std::uint64_t>(stats.spilled_bytes);
}

void say(std::ostringstream& text, const std::string& name, const std::string& line,
         const StageStats& stats) {
  text << "  " << name << ": " << stats.in.rows << " in, " << stats.out.rows << " out";
  if (!line.empty()) text << "  " << line;
  text << "\n";
}

}  // namespace

std::uint64_t WatchedRun::moved() const {
  std::uint64_t sum = 0;
  for (const StagePtr& stage : run_.stages()) sum += moved_by(stage->stats());
  for (const Run::Nested* nested : run_.nested()) sum += moved_by(nested->stats);
  return sum;
}

std::string WatchedRun::progress() const {
  std::ostringstream text;
  text << "rows so far:\n";
  for (const StagePtr& stage : run_.stages()) {
    say(text, stage->name(), stage->node().line(), stage->stats());
  }
  for (const Run::Nested* nested : run_.nested()) {
    say(text, nested->name, nested->line, nested->stats);
  }
  return text.str();
}

LedgerSample WatchedRun::sample() const {
  const Ledger ledger = run_.budget().ledger();
  const MachineMemory machine = read_machine_memory();
  LedgerSample out;
  out.used = ledger.used;
  out.limit = ledger.effective;
  out.asked = ledger.limit;
  out.others = surely_held_by_others(machine);
  out.untracked = ledger.untracked;
  out.own = own_anonymous_bytes();
  out.container = machine.container();
  out.container_used = machine.cgroup_limit                ? machine.cgroup_anon.value_or(0)
                       : machine.total > machine.available ? machine.total - machine.available
                                                           : 0;
  if (const auto kills = oom_kills()) out.oom_kills = static_cast<std::int64_t>(*kills);
  for (std::size_t i = 0; i < ledger.rows.size(); ++i) {
    const LedgerRow& row = ledger.rows[i];
    // A pipeline's row is the sum of its stages'.
    const bool is_sum = i + 1 < ledger.rows.size() && ledger.rows[i + 1].depth > row.depth;
    if (is_sum || row.held == 0) continue;
    out.holders.push_back({row.line.empty() ? row.name : row.name + ", " + row.line, row.held});
  }
  std::ranges::sort(out.holders, std::greater<>(), &LedgerSample::Holder::bytes);
  if (out.holders.size() > flight::kHolders) out.holders.resize(flight::kHolders);
  return out;
}

void WatchedRun::note(std::int64_t now_ns) const {
  if (timeline_ == nullptr || !timeline_->due(now_ns, kPointEveryNs)) return;
  Timeline::Point point;
  Budget& budget = run_.budget();
  point.used = static_cast<std::int64_t>(budget.used());
  point.limit = static_cast<std::int64_t>(budget.effective_limit());
  point.untracked = static_cast<std::int64_t>(budget.untracked());
  for (const StagePtr& stage : run_.stages()) {
    if (point.stages.size() == Timeline::kMostStages) break;
    const StageStats& stats = stage->stats();
    point.stages.push_back({static_cast<std::int64_t>(stage->account()->held()), stats.busy_ns,
                            stats.wait_ns, stats.out.rows});
  }
  timeline_->add(now_ns, std::move(point));
}

std::string WatchedRun::ledger() const { return run_.budget().ledger().to_string(); }

std::uint32_t text_of(const Stage& stage, std::string_view what) {
  return stage_text(stage.name(), what, stage.node().line());
}

}  // namespace spillway
