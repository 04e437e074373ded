#pragma once

namespace spillway::python {

// Refuses an array that would not fit the container: NumPy then raises its ordinary MemoryError at
// the user's own line, instead of the kernel being killed. Works by wrapping NumPy's default
// allocator in place, so it holds on every thread and in every context. Arrays made before and
// after mix freely: the wrapped allocator does the work.
void guard_numpy(bool on);

}  // namespace spillway::python
