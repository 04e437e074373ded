#include "spillway/pipeline/audit.h"

#include <algorithm>

namespace spillway {
namespace {

// Source rows that entered the pipeline through `node`. A zip counts its first input, the others
// only go along; an operator that opens datasets of its own (flat_map) counts what came out of
// them, which is what it handed on.
std::int64_t source_rows(const Run& run, const Node& node) {
  const StagePtr stage = run.stage_of(node);
  if (node.inputs().empty()) return stage->stats().rows + stage->stats().failed;
  if (node.op().name == "zip") return source_rows(run, *node.inputs()[0]);
  std::int64_t rows = 0;
  for (const NodePtr& input : node.inputs()) rows += source_rows(run, *input);
  return rows;
}

}  // namespace

Audit audit_of(const Run& run, std::int64_t delivered) {
  Audit audit;
  for (const StagePtr& stage : run.stages()) {
    const StageStats& s = stage->stats();
    const Node& node = stage->node();
    StageAudit row;
    row.name = stage->name();
    row.line = node.line();
    row.out = s.rows;
    row.filtered = s.filtered;
    row.skipped = s.skipped;
    row.failed = s.failed;
    row.dropped = s.dropped;
    row.bytes = s.bytes;
    row.busy_ns = s.busy_ns;
    row.wait_ns = s.wait_ns;
    row.parallelism = s.parallelism;
    row.spilled_bytes = s.spilled_bytes;
    row.effective = s.effective;
    for (const NodePtr& input : node.inputs()) row.in += run.stage_of(*input)->stats().rows;
    row.used = node.op().ratio == Ratio::kCounted ? s.used.load() : row.out;
    if (node.op().ratio == Ratio::kSource) row.in = row.out + row.failed + row.skipped;
    row.held = row.in - row.used - row.filtered - row.skipped - row.failed - row.dropped;
    audit.filtered += row.filtered;
    audit.skipped += row.skipped;
    audit.failed += row.failed;
    audit.dropped += row.dropped;
    audit.stages.push_back(std::move(row));
  }
  audit.delivered = delivered;
  audit.total = source_rows(run, *run.root());
  audit.held =
      audit.total - audit.delivered - audit.filtered - audit.skipped - audit.failed - audit.dropped;
  audit.entries = run.entries();
  audit.entries_lost = run.entries_lost();
  return audit;
}

}  // namespace spillway
