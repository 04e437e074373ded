#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spillway/pipeline/run.h"

namespace spillway {

// What became of every element of a pass. Each stage balances in its own rows, and in the source
// rows they are made of (Origin::weight):
//   in = used + filtered + skipped + failed + dropped + held
// In are the rows its inputs and the datasets it opened handed to it, counted where they are handed
// over, so that a node read twice counts what each reader got; of a source, the rows it made. Used
// are those that went into its outputs. What it handed on beyond that was made there (a cache's
// second pass, a shuffle by index); an element that a dataset was made of is used up, and the
// dataset's rows count instead. Elements that only choose or go along (Weighs) are no source rows.
//
// The totals are in source rows and add up all stages:
//   total = delivered + filtered + skipped + failed + dropped + held
// Held is what lies in buffers, was read ahead, or was left in an iterator closed early. When the
// data has ended nobody will ask for it any more: then it counts as dropped, and held is 0.
struct StageAudit {
  std::string name;
  std::string line;
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t used = 0;
  std::int64_t filtered = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t dropped = 0;
  std::int64_t held = 0;
  std::int64_t bytes = 0;
  std::int64_t busy_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t parallelism = 1;
  std::int64_t spilled_bytes = 0;
  std::int64_t effective = 0;
  std::int64_t source_held = 0;  // the same as held, in source rows
};

struct Audit {
  std::int64_t total = 0;
  std::int64_t delivered = 0;
  std::int64_t filtered = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t dropped = 0;
  std::int64_t held = 0;
  std::vector<StageAudit> stages;  // those of nested datasets last, one a name: "flat_map#1/map"
  std::vector<AuditEntry> entries;
  std::int64_t entries_lost = 0;
};

// `delivered`: source rows the consumer has really got. `ended`: it has met the end of the data.
Audit audit_of(const Run& run, std::int64_t delivered, bool ended);

}  // namespace spillway
