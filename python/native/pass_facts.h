#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "spillway/pipeline/consumer.h"

// What a pass tells of itself, as Python's own lists and dicts. With the GIL.
namespace spillway::python {

nanobind::list entry_list(const std::vector<AuditEntry>& all);
nanobind::dict audit_dict(const Audit& audit);
// Points as tuples: seconds, used, limit, untracked, and for each stage (held, busy s, wait s,
// rows).
nanobind::list timeline_list(const Timeline& timeline);
// What a line that tells how far a pass is shows: cheap, whatever the audit has listed.
nanobind::dict glance(const Consumer& consumer);

}  // namespace spillway::python
