#pragma once

#include <optional>

#include "python.h"
#include "spillway/tensor/chunk.h"

namespace spillway::python {

// NumPy's descriptor of a type (new reference); null with an exception when ml_dtypes is needed
// and missing. Strings: object.
PyArray_Descr* descr_of(DType dtype);
// The type of an array, when it is one of ours. Unicode, bytes and object arrays are strings.
std::optional<DType> dtype_of(PyArray_Descr* descr);

// How a leaf is turned into a tensor.
struct LeafRules {
  AccountPtr account;
  std::optional<DType> dtype;  // declared: convert to it
  bool strict = false;         // numbers of Python must be of its kind: 2.5 is no int
  bool constant = false;       // the user's own array may be adopted without a copy (from_tensors)
};

// Any leaf: Tensor, array, NumPy scalar, number, string, list of those. With the GIL; a Python
// exception (not a status) is set on failure. Numbers and lists get TensorFlow's types: int32,
// float32. An array nobody else holds is adopted and charged; others are copied (a generator may
// fill its array again), except constants.
// `sole`: the caller holds the only reference to `leaf`.
std::optional<Tensor> tensor_from(PyObject* leaf, const LeafRules& rules, bool sole = false);

// Writes a scalar straight into `to` when that needs no array; false: not possible here.
bool write_scalar(PyObject* leaf, DType dtype, std::byte* to);

// New references, with the GIL.
// A read-only array: a view that keeps the bytes alive and charged when the tensor owns its buffer
// or is large; a copy otherwise, so that one kept row never pins a chunk.
PyObject* array_from(const Tensor& tensor);
// The same, but NumPy scalars and bytes for rank 0.
PyObject* value_from(const Tensor& tensor);
// The same as array_from, but writable, and bytes for a string of rank 0: for a tensor whose bytes
// nothing else refers to, where they are shown and not copied (shown_as_view).
PyObject* owned_from(const Tensor& tensor);
bool shown_as_view(const Tensor& tensor);

}  // namespace spillway::python
