#include "objects.h"

#include "bindings.h"

namespace spillway::python {

bool is_variant(PyObject* object) {
  const auto instance = [object](const Ref& type) {
    return type && PyObject_IsInstance(object, type.get()) == 1;
  };
  return instance(types().dataset) || instance(types().optional);
}

VariantPtr variant_from(PyObject* object) {
  if (PyObject_IsInstance(object, types().dataset.get()) == 1) {
    const Ref node = Ref::steal(PyObject_GetAttrString(object, "_node"));
    if (!node) return nullptr;
    NodePtr found = node_of(node.get());
    if (found == nullptr) return nullptr;
    return std::make_shared<DatasetValue>(std::move(found));
  }
  const Ref element = Ref::steal(PyObject_GetAttrString(object, "_element"));
  if (!element) return nullptr;
  if (element.get() == Py_None) return std::make_shared<OptionalValue>(nullptr);
  ElementPtr found = element_of(element.get());
  if (found == nullptr) return nullptr;
  return std::make_shared<OptionalValue>(std::move(found));
}

PyObject* variant_to_python(const VariantPtr& item) {
  if (const auto* dataset = dynamic_cast<const DatasetValue*>(item.get())) {
    const Ref node = Ref::steal(node_to_python(dataset->node()));
    if (!node) return nullptr;
    return PyObject_CallOneArg(types().make_dataset.get(), node.get());
  }
  if (const auto* optional = dynamic_cast<const OptionalValue*>(item.get())) {
    const Ref element = Ref::steal(element_to_python(optional->element()));
    if (!element) return nullptr;
    return PyObject_CallOneArg(types().make_optional.get(), element.get());
  }
  PyErr_SetString(PyExc_TypeError, "unknown kind of variant");
  return nullptr;
}

}  // namespace spillway::python
