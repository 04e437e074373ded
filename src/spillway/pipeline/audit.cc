#include "spillway/pipeline/audit.h"

#include <algorithm>

namespace spillway {
namespace {

constexpr std::string_view kLeft = "held when the data ended";

// Adds a stage's row to the table and its source rows to the totals.
void add_stage(Audit& audit, std::string name, std::string line, const OperatorDef& op,
               const StageStats& s, const Account* account, bool ended) {
  // While threads are at work: whatever is counted later is read earlier, so that nothing seems to
  // have gone out before it came in.
  const Amount out = s.out.read();
  const Amount filtered = s.filtered.read();
  const Amount skipped = s.skipped.read();
  const Amount failed = s.failed.read();
  Amount dropped = s.dropped.read();
  const Amount used = s.used.read() + (op.ratio == Ratio::kCounted ? Amount{} : out);
  const Amount gone = used + filtered + skipped + failed + dropped;
  Amount in = s.in.read();
  if (op.ratio == Ratio::kSource) in = in + gone;
  Amount held = in - gone;
  if (ended && held.rows > 0) {
    if (held.weight > 0) {
      Status why = bad_data(Code::kDataLoss, kLeft);
      why.edit().stage = name;
      why.edit().line = line;
      audit.entries.push_back({"dropped", std::move(why), held.weight});
    }
    dropped = dropped + held;
    held = {};
  }
  audit.filtered += filtered.weight;
  audit.skipped += skipped.weight;
  audit.failed += failed.weight;
  audit.dropped += dropped.weight;
  audit.held += held.weight;
  const std::int64_t for_memory = account == nullptr ? 0 : account->waited_ns();
  audit.stages.push_back({
      .name = std::move(name),
      .line = std::move(line),
      .in = in.rows,
      .out = out.rows,
      .used = used.rows,
      .filtered = filtered.rows,
      .skipped = skipped.rows,
      .failed = failed.rows,
      .dropped = dropped.rows,
      .held = held.rows,
      .bytes = s.bytes,
      .peak_bytes = account == nullptr ? 0 : static_cast<std::int64_t>(account->peak()),
      .busy_ns = std::max<std::int64_t>(0, s.busy_ns - for_memory),
      .wait_ns = s.wait_ns,
      .memory_wait_ns = for_memory,
      .parallelism = s.parallelism,
      .spilled_bytes = s.spilled_bytes,
      .effective = s.effective,
      .source_held = held.weight,
  });
}

}  // namespace

std::size_t bytes_of(const AuditEntry& entry) {
  constexpr std::size_t kAllocation = 16;  // of each
  // Lists double, so that up to half of one is free.
  std::size_t bytes = 2 * sizeof(AuditEntry) + sizeof(ErrorInfo) + 2 * kAllocation;
  const ErrorInfo& info = entry.why.info();
  for (const std::string* text : {&entry.outcome, &info.message, &info.type, &info.stage,
                                  &info.line, &info.origin, &info.file}) {
    if (text->capacity() >= sizeof(std::string) / 2) bytes += text->capacity() + 1 + kAllocation;
  }
  return bytes;
}

Audit audit_of(const Run& run, std::int64_t delivered, bool ended) {
  Audit audit;
  audit.delivered = delivered;
  audit.entries = run.entries();
  audit.entries_lost = run.entries_lost();
  const std::int64_t handed_on = run.stage_of(*run.root())->stats().out.weight;
  for (const StagePtr& stage : run.stages()) {
    const Node& node = stage->node();
    add_stage(audit, stage->name(), node.line(), node.op(), stage->stats(), stage->account().get(),
              ended);
  }
  for (const Run::Nested* nested : run.nested()) {
    if (nested->stats.aside) continue;
    add_stage(audit, nested->name, nested->line, nested->op, nested->stats, nullptr, ended);
  }
  audit.held += handed_on - delivered;  // by the consumer
  audit.total =
      audit.delivered + audit.filtered + audit.skipped + audit.failed + audit.dropped + audit.held;
  return audit;
}

}  // namespace spillway
