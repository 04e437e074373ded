#pragma once

#include "py_function.h"

namespace spillway::python {

// Whether calling it gives a coroutine. With the GIL.
bool is_async(PyObject* callable);

// An `async def` function behind the engine's seam. All of them are awaited on one event loop, on a
// thread of its own, so that what one makes for that loop (a session, a semaphore) serves another.
// Many calls may be under way (AwaitedFunction); call() awaits one row after the other.
std::shared_ptr<PyFunction> make_async_function(Ref callable, StructurePtr output, std::string code,
                                                std::string name, bool numpy_arguments,
                                                std::string why);

// The loop's thread never waits for a pipeline, which may wait for the loop: true, with an
// exception, on that thread. With the GIL.
bool refused_on_loop();

}  // namespace spillway::python
