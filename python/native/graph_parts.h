#pragma once

#include <nanobind/nanobind.h>

#include "python.h"
#include "spillway/graph/graph.h"

namespace spillway::python {

// A traced graph as plain Python objects (tuples, numbers, bytes, arrays, NumPy's ufuncs), which
// any pickler can write, and the graph again. Steps keep the lines that wrote them as text. With
// the GIL; throw Python exceptions.
nanobind::tuple graph_to_python(const graph::Graph& graph);
graph::GraphPtr graph_from_python(nanobind::handle parts);

// An array for a value, strings as objects; and the value, which adopts the array's bytes.
nanobind::object value_to_python(const Tensor& value);
Tensor value_from_python(nanobind::handle array, DType dtype);

}  // namespace spillway::python
