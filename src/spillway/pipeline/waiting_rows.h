#pragma once

#include "spillway/memory/budget.h"
#include "spillway/tensor/chunk.h"

namespace spillway {

// A row that waits in a stage for the output it becomes part of counts as that output (rule R5): if
// it is large and nobody else has it, it moves to the stage's account and guarantee as far as that
// has room, and its maker has room for the next one. Not for the last row that an output waits for:
// the output needs room for one row to begin with. Never waits.
void count_as_output(const Tensor& rows, const AccountPtr& account);
void count_as_output(const Chunk& rows, const AccountPtr& account);

}  // namespace spillway
