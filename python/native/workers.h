#pragma once

#include <memory>
#include <string>
#include <vector>

#include "python.h"
#include "spillway/guard/parcel.h"
#include "spillway/guard/worker_pool.h"

namespace spillway::python {

// The workers of this process; `command` starts the process that forks them. With the GIL.
const std::shared_ptr<WorkerPool>& worker_pool(const std::vector<std::string>& command);

// In a worker: `serve(text, parts)` gives a text and buffers.
Result<Parcel> serve_parcel(PyObject* serve, const Parcel& request);

}  // namespace spillway::python
