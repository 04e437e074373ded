#pragma once

#include <string>

#include "python.h"
#include "spillway/tensor/dtype.h"

namespace spillway::python {

// Whether each number of an array is still the same number as a `want`: none wraps, none becomes
// infinite, none loses its fraction, NaN or imaginary part to a type without them. Rounding to a
// shorter fraction is no loss; as a bool a number is whether it is zero, as in NumPy. False: a
// ValueError is set that names the number and its place. With the GIL.
bool survives(PyArrayObject* array, DType want);

// Where item `at` of an array lies: " at [2, 0]"; nothing for a scalar.
std::string place_in(PyArrayObject* array, npy_intp at);

}  // namespace spillway::python
