#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spillway/pipeline/run.h"

namespace spillway {

// What became of every element of a pass. Per stage:
//   in = used + filtered + skipped + failed + dropped + held
// and in all, in rows of the sources:
//   total = delivered + filtered + skipped + failed + dropped + held
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
};

struct Audit {
  std::int64_t total = 0;
  std::int64_t delivered = 0;
  std::int64_t filtered = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t dropped = 0;
  std::int64_t held = 0;
  std::vector<StageAudit> stages;
  std::vector<AuditEntry> entries;
  std::int64_t entries_lost = 0;
};

// `delivered`: source rows the consumer has really got.
Audit audit_of(const Run& run, std::int64_t delivered);

}  // namespace spillway
