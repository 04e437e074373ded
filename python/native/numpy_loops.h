#pragma once

#include <vector>

#include "python.h"
#include "spillway/graph/node.h"

namespace spillway::python {

// Once, at import; false with an exception.
bool import_ufuncs();
// A ufunc on traced tensors that have the very types of one of its loops. New reference; null with
// the exception that ends the trace where NumPy has no such loop.
PyObject* apply_ufunc(PyObject* ufunc, const std::vector<graph::Operand>& inputs, DType out);
// The same as a node; null with an exception.
graph::NodePtr make_ufunc(PyObject* ufunc, const std::vector<graph::Operand>& inputs, DType out,
                          graph::SitePtr site);
// The ufunc of such a node, borrowed; null: it is another step.
PyObject* ufunc_of(const graph::Node& node);

}  // namespace spillway::python
