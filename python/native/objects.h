#pragma once

#include <functional>

#include "nest.h"
#include "spillway/pipeline/generator.h"
#include "spillway/pipeline/spec.h"

namespace spillway::python {

// Datasets and Optionals as components.
bool is_variant(PyObject* object);
VariantPtr variant_from(PyObject* object);            // null with an exception
PyObject* variant_to_python(const VariantPtr& item);  // new reference

// A Python callable behind the engine's seam. `output` null: learnt from the first result and then
// enforced. Called with Tensors; a tuple element is taken apart into arguments. `why`: what kept it
// from being traced.
FunctionPtr make_function(Ref callable, StructurePtr output, std::string code, std::string name,
                          bool numpy_arguments, std::string why);
// Whether it is one of these.
bool is_python(const Function& function);
// Its callable, and whether that is given NumPy's values; null: it is none of these. With the GIL.
struct PythonParts {
  Ref callable;
  bool numpy = false;
};
PythonParts python_parts(const Function& function);

// A callable that returns a generator, an iterable or an async generator.
ObjectPtr make_generator(Ref callable, Ref args, StructurePtr structure, std::string code,
                         std::string name);
// Whether nobody wants the row that a generator is making on this thread.
bool stop_wanted();

// What `ask(part, skip)` offers through Arrow's C stream interface, one part for each of `files`
// (which may be empty names), and what its rows are. With the GIL.
Result<std::pair<ObjectPtr, StructurePtr>> make_arrow_source(Ref ask,
                                                             std::vector<std::string> files,
                                                             std::string name);

}  // namespace spillway::python
