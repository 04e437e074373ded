#pragma once

#include <cstdint>

namespace spillway {

// Says that this thread waited so long for rows which another thread makes: the time counts as the
// input's, not as the work of the stage that waited. Inside Iterator::pull().
void waited_for_input(std::int64_t ns);

}  // namespace spillway
