#include "pass_facts.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace spillway::python {
namespace {

// Messages may hold bytes of the user's files.
nb::object shown(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::dict pass_dict(const PassFacts& pass) {
  nb::dict out;
  out["elapsed_s"] = static_cast<double>(pass.elapsed_ns) * 1e-9;
  out["away_s"] = static_cast<double>(pass.away_ns) * 1e-9;
  out["cpu_s"] = static_cast<double>(pass.cpu_ns) * 1e-9;
  out["peak_bytes"] = pass.peak_bytes;
  out["limit"] = pass.limit;
  out["effective"] = pass.effective;
  out["ended"] = pass.ended;
  return out;
}

}  // namespace

nb::list entry_list(const std::vector<AuditEntry>& all) {
  nb::list entries;
  for (const AuditEntry& entry : all) {
    const ErrorInfo& info = entry.why.info();
    nb::dict row;
    row["outcome"] = entry.outcome;
    row["stage"] = shown(info.stage);
    row["line"] = shown(info.line);
    row["origin"] = shown(info.origin);
    row["index"] = info.index;
    row["epoch"] = info.epoch;
    row["file"] = nb::steal(PyUnicode_DecodeFSDefaultAndSize(
        info.file.data(), static_cast<Py_ssize_t>(info.file.size())));
    row["offset"] = info.offset;
    row["code"] = static_cast<int>(info.code);
    row["kind"] = std::string(to_string(info.kind));
    row["message"] = shown(info.message);
    row["attempts"] = info.attempts;
    row["weight"] = entry.weight;
    row["ends_file"] = entry.ends_file;
    entries.append(row);
  }
  return entries;
}

nb::list timeline_list(const Timeline& timeline) {
  nb::list out;
  for (const Timeline::Point& point : timeline.points()) {
    nb::list stages;
    for (const Timeline::OfStage& stage : point.stages) {
      stages.append(nb::make_tuple(stage.held, static_cast<double>(stage.busy_ns) * 1e-9,
                                   static_cast<double>(stage.wait_ns) * 1e-9, stage.rows));
    }
    out.append(nb::make_tuple(static_cast<double>(point.at_ns) * 1e-9, point.used, point.limit,
                              point.untracked, stages));
  }
  return out;
}

nb::dict glance(const Consumer& consumer) {
  const Run& run = consumer.run();
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  const Stage* slowest = run.stages().front().get();  // the source: every run has one
  for (const StagePtr& stage : run.stages()) {
    const StageStats& stats = stage->stats();
    skipped += stats.skipped.rows;
    failed += stats.failed.rows;
    if (stats.busy_ns > slowest->stats().busy_ns) slowest = stage.get();
  }
  nb::dict out;
  out["position"] = consumer.position();
  out["skipped"] = skipped;
  out["failed"] = failed;
  out["slowest"] = slowest->name();
  out["busy_s"] = static_cast<double>(slowest->stats().busy_ns) * 1e-9;
  out["held"] = Budget::process().used();
  out["limit"] = Budget::process().effective_limit();
  return out;
}

nb::dict audit_dict(const Audit& audit) {
  nb::dict out;
  out["pass"] = pass_dict(audit.pass);
  out["total"] = audit.total;
  out["delivered"] = audit.delivered;
  out["filtered"] = audit.filtered;
  out["skipped"] = audit.skipped;
  out["failed"] = audit.failed;
  out["dropped"] = audit.dropped;
  out["held"] = audit.held;
  out["entries_lost"] = audit.entries_lost;
  nb::list stages;
  for (const StageAudit& s : audit.stages) {
    nb::dict row;
    row["name"] = s.name;
    row["line"] = s.line;
    row["rows_in"] = s.in;
    row["rows_out"] = s.out;
    row["used"] = s.used;
    row["filtered"] = s.filtered;
    row["skipped"] = s.skipped;
    row["failed"] = s.failed;
    row["dropped"] = s.dropped;
    row["held"] = s.held;
    row["bytes"] = s.bytes;
    row["peak_bytes"] = s.peak_bytes;
    row["busy_s"] = static_cast<double>(s.busy_ns) * 1e-9;
    row["wait_s"] = static_cast<double>(s.wait_ns) * 1e-9;
    row["memory_wait_s"] = static_cast<double>(s.memory_wait_ns) * 1e-9;
    row["parallelism"] = s.parallelism;
    row["spilled_bytes"] = s.spilled_bytes;
    row["effective"] = s.effective;
    stages.append(row);
  }
  out["stages"] = stages;
  out["entries"] = entry_list(audit.entries);
  return out;
}

}  // namespace spillway::python
