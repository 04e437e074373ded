#pragma once

namespace spillway {

// faulthandler writes the stacks of a process in pieces and marks no end. A process on a busy
// machine may pause between two pieces, so this mark tells the reader where they end.
inline constexpr char kEndOfStacks = '\4';

// From now on the handler that `number` has (of one argument, as faulthandler's is) is followed by
// the mark, written to `fd`. Once in a process.
void mark_end_of_stacks(int number, int fd);

}  // namespace spillway
