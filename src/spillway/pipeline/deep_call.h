#pragma once

#include <cstdint>
#include <functional>

#include "spillway/memory/budget.h"

namespace spillway {

// Iterators call those below them, so a pass over a pipeline needs a stack as deep as the pipeline
// is long. Runs `body` where there is room for `depth` stages: here, or for thousands of them on a
// thread of its own with a stack that is large enough, and waits for it. Ctrl-C that this thread
// hears, `body` hears too. An error is one of the system: then `body` did not run.
Status with_stack_for(std::int64_t depth, Budget& budget, const std::function<void()>& body);

// A thread whose stack has room for so many stages.
Status start_thread_for(std::int64_t depth, std::function<void()> body);

}  // namespace spillway
