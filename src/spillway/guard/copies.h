#pragma once

namespace spillway {

// User code in a worker may fork, and the child may come back from that code instead of ending.
// It must not go on in the worker's place, on the worker's channel: then rows would arrive twice.

// This process is a worker from now on; what is forked from it is a copy.
void begin_as_worker();
// Called wherever user code has returned, and before anything is said on the channel: in a copy,
// ends it without a word. A system call in a worker, nothing elsewhere.
void end_copy_of_worker();

}  // namespace spillway
