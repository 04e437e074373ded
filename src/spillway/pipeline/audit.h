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
  std::int64_t bytes = 0;           // handed on
  std::int64_t peak_bytes = 0;      // held at most; of a nested stage, 0: they share one account
  std::int64_t busy_ns = 0;         // on the thread that pulls it: at work, or awaiting its calls
  std::int64_t wait_ns = 0;         // for its inputs
  std::int64_t memory_wait_ns = 0;  // for memory
  std::int64_t parallelism = 1;
  std::int64_t spilled_bytes = 0;
  std::int64_t effective = 0;
  std::int64_t source_held = 0;  // the same as held, in source rows
};

// The pass as a whole. Times end with the data, or when it is closed.
struct PassFacts {
  std::int64_t elapsed_ns = 0;
  std::int64_t away_ns = 0;  // the consumer was at something else
  std::int64_t cpu_ns = 0;   // of all threads of the process
  std::int64_t peak_bytes = 0;
  std::int64_t limit = 0;      // asked for
  std::int64_t effective = 0;  // what is left of that
  bool ended = false;          // met the end of the data
};

struct Audit {
  PassFacts pass;
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

// What an entry takes in memory, with the words of its error.
std::size_t bytes_of(const AuditEntry& entry);

// `delivered`: source rows the consumer has really got. `ended`: it has met the end of the data.
Audit audit_of(const Run& run, std::int64_t delivered, bool ended);

}  // namespace spillway
