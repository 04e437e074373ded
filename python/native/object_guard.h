#pragma once

namespace spillway::python {

// The same for Python's own objects: a list, a string or a dictionary that would not fit ends in a
// MemoryError of the code that makes it. Large blocks and the arenas that small objects live in ask
// before they are allocated; a small object in an arena that is there costs nothing more. This is
// what stops a loop inside of C code (str.split, json.loads, list(range(n))), which no exception
// from outside can reach. For the whole process, once installed.
void guard_objects(bool on);

}  // namespace spillway::python
