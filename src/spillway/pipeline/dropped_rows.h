#pragma once

#include <cstdint>

#include "spillway/pipeline/stage.h"

namespace spillway {

// `error`, with which a batch loses its good rows: `rows` of them, the first at position `begin` of
// the stage's input. Its text then says so, and what would keep them. Unchanged where there are
// none. `own`: the rows cannot be batched, rather than one of them failed before.
Status naming_dropped(Status error, const Stage& stage, std::int64_t rows, std::int64_t begin,
                      bool own);

}  // namespace spillway
