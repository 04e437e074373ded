// The base of the fronts' iterators: elements of a pass, each through a function, on a way that no
// signal can cut. Between an element and the variable it goes to there is only the interpreter's
// own instruction: a method in Python would be a place where a handler may raise, and the element
// would be gone.

#include <utility>

#include "bindings.h"
#include "interrupts.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

struct Elements {
  PyObject_HEAD PyObject* pass;  // a `_native.Iterator`
  PyObject* convert;             // of an element, or None
};

struct Field {
  PyObject* Elements::* member;
};

Elements* of(PyObject* self) { return reinterpret_cast<Elements*>(self); }

// Whether what is set now has nothing to do with the element.
bool is_interrupted() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  const bool yes = meaning_of(value) != Meaning::kFailure;
  PyErr_Restore(type, value, trace);
  return yes;
}

// The next element through `convert`; null with an exception, or without one at the end.
PyObject* next_through(PyObject* pass, PyObject* convert) {
  if (pass == nullptr || pass == Py_None) {
    PyErr_SetString(PyExc_ValueError, "this iterator was not opened: super().__init__ opens it");
    return nullptr;
  }
  const Ref held = Ref::borrow(pass);  // a handler may put another in its place
  Ref element = Ref::steal(next_element(pass));
  if (!element || convert == nullptr || convert == Py_None) return element.release();
  Ref made = Ref::steal(PyObject_CallOneArg(convert, element.get()));
  if (!made ? !is_interrupted() : PyErr_CheckSignals() == 0) return made.release();
  made = Ref();
  give_back_element(pass, std::move(element));
  return nullptr;
}

PyObject* next_of(PyObject* self) { return next_through(of(self)->pass, of(self)->convert); }
PyObject* self_of(PyObject* self) { return Py_NewRef(self); }

PyObject* get_next(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"name", nullptr};
  PyObject* name = nullptr;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "|O:get_next", const_cast<char**>(names), &name) ==
      0) {
    return nullptr;
  }
  PyObject* element = next_of(self);
  if (element != nullptr || PyErr_Occurred() != nullptr) return element;
  return raise(Status::error(ErrorKind::kUser, Code::kOutOfRange, "End of sequence"));
}

// What `_optional` makes of the next element; of none, `_no_element()`.
PyObject* get_next_as_optional(PyObject* self, PyObject*) {
  const Ref make = Ref::steal(PyObject_GetAttrString(self, "_optional"));
  if (!make) return nullptr;
  PyObject* optional = next_through(of(self)->pass, make.get());
  if (optional != nullptr || PyErr_Occurred() != nullptr) return optional;
  return PyObject_CallMethod(self, "_no_element", nullptr);
}

// What next() gave, and who asked for it could not use: the next one again.
PyObject* give_back(PyObject* self, PyObject* element) {
  if (of(self)->pass != nullptr) give_back_element(of(self)->pass, Ref::borrow(element));
  Py_RETURN_NONE;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(of(self)->pass);
  Py_VISIT(of(self)->convert);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
int clear(PyObject* self) {
  Py_CLEAR(of(self)->pass);
  Py_CLEAR(of(self)->convert);
  return 0;
}
void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get_field(PyObject* self, void* where) {
  PyObject* held = of(self)->*static_cast<Field*>(where)->member;
  return Py_NewRef(held == nullptr ? Py_None : held);
}
int set_field(PyObject* self, PyObject* value, void* where) {
  PyObject*& held = of(self)->*static_cast<Field*>(where)->member;
  const Ref before = Ref::steal(std::exchange(held, Py_XNewRef(value)));
  return 0;
}
Field pass_field{&Elements::pass};
Field convert_field{&Elements::convert};
PyGetSetDef fields[] = {{"_pass", get_field, set_field, nullptr, &pass_field},
                        {"_convert", get_field, set_field, nullptr, &convert_field},
                        {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {
    // As Python's interface has it: the flags say which of the types it is.
    // NOLINTNEXTLINE(bugprone-casting-through-void)
    {"get_next", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(get_next)),
     METH_VARARGS | METH_KEYWORDS,
     "get_next($self, name=None)\n--\n\nThe next element; OutOfRangeError at the end."},
    {"get_next_as_optional", get_next_as_optional, METH_NOARGS,
     "get_next_as_optional($self)\n--\n\n"
     "The next element, or an Optional without one at the end."},
    {"_give_back", give_back, METH_O,
     "_give_back($self, element)\n--\n\nAn element that was taken, and is the next one again."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("The elements of a pass, each through a function.")},
    {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_iter, reinterpret_cast<void*>(self_of)},
    {Py_tp_iternext, reinterpret_cast<void*>(next_of)},
    {Py_tp_getset, fields},
    {Py_tp_methods, methods},
    {0, nullptr}};
PyType_Spec spec = {"spillway._native.Elements", sizeof(Elements), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

void bind_elements(nb::module_& m) {
  const Ref type = Ref::steal(PyType_FromSpec(&spec));
  if (!type) throw nb::python_error();
  m.attr("Elements") = nb::handle(type.get());
}

}  // namespace spillway::python
