#pragma once

#include <vector>

#include "python.h"

namespace spillway::python {

// Whether the calling thread runs for the user: a function, cell or module that is neither the
// standard library's, nor installed, nor ours is on its Python stack. What a notebook does between
// two cells (it shows an error, it reads the next line) is nobody's code but its own, and what
// tells an error runs for nobody, wherever it is called. A thread without the GIL is taken to run
// for the user. Allocates nothing, so that an allocator may ask.
bool runs_for_the_user();

// How the files of libraries begin, and those of the code that tells an error. Each is a str. With
// the GIL.
void set_library_files(const std::vector<PyObject*>& of_libraries,
                       const std::vector<PyObject*>& of_tellers);

}  // namespace spillway::python
