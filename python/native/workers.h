#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings.h"
#include "python.h"
#include "spillway/guard/cargo.h"
#include "spillway/guard/parcel.h"
#include "spillway/guard/watch.h"

namespace spillway::python {

// The workers of this process; `command` starts the process that forks them. Sandboxed ones share
// neither memory nor parent with the others. With the GIL.
const std::shared_ptr<WorkerPool>& worker_pool(const std::vector<std::string>& command,
                                               const WorkerKind& kind);

// The engine's function that a Python object holds; null: it is something else.
FunctionPtr function_if_one(nanobind::handle object);

// What `guard.rules` says of a stage; where a key is missing, the default holds.
GuardRules rules_of(const nanobind::dict& given);

// What a parcel holds, as a text and arrays of bytes. A long text is the first of those instead.
nanobind::tuple to_python(const Parcel& parcel);
// What a Python `Cargo` holds.
CargoPtr cargo_of(nanobind::handle object);

// In a worker: `serve(text, parts)` gives a text and buffers.
Result<Parcel> serve_parcel(PyObject* serve, const Parcel& request);

}  // namespace spillway::python
