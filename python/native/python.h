#pragma once

// The NumPy C API in every file of the module, imported once in module.cc.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define PY_ARRAY_UNIQUE_SYMBOL spillway_numpy_api
#define PY_UFUNC_UNIQUE_SYMBOL spillway_ufunc_api
#ifndef SPILLWAY_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "spillway/base/status.h"

namespace spillway::python {

// Whether the interpreter is about to end: from then on no thread of ours enters it again.
extern std::atomic<bool> leaving;
// An interpreter that ends takes threads that come back from user code off their stacks, whose
// destructors then run without the GIL. Such a thread sleeps here until the process is gone.
void park_if_evicted();

// An owned reference. Only with the GIL.
class Ref {
 public:
  Ref() = default;
  static Ref steal(PyObject* object) { return Ref(object); }
  static Ref borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref(const Ref& other) : object_(other.object_) { Py_XINCREF(object_); }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ == nullptr) return;
    if (leaving.load(std::memory_order_relaxed)) park_if_evicted();
    Py_DECREF(object_);
  }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// Takes the GIL on any thread, drops references that engine threads let go of meanwhile.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// From now on a thread of ours that tries to enter the interpreter sleeps until the process is
// gone. Called when the interpreter is about to end, with the GIL.
void leave_interpreter();

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// Keeps a Python object for the engine. Its last owner may be any thread, with the GIL or without,
// holding any lock: without the GIL the reference goes to a free list, and the interpreter is
// asked to empty it.
std::shared_ptr<void> keep_object(Ref object);
PyObject* kept_object(const std::shared_ptr<void>& kept);
void drop_pending_objects();  // with the GIL

// What Python code of the package hands over once, at import.
struct PythonTypes {
  Ref tensor;         // spillway.tensor.Tensor
  Ref symbolic;       // the same inside a trace: no value
  Ref convert;        // (value, dtype name or None) -> Tensor
  Ref integers;       // an integer, a sequence or a tensor of them -> list of int
  Ref dtype_name;     // anything that names a dtype -> its name
  Ref trace_break;    // exception: the trace needs a value
  Ref describe_line;  // (code, line number) -> str
  Ref package;        // str: the folder of the package
  Ref dataset;        // spillway.dataset.Dataset; instances have `_node`
  Ref make_dataset;   // node -> Dataset
  Ref optional;       // spillway.optional.Optional; instances have `_element`
  Ref make_optional;  // element or None -> Optional
  Ref make_error;     // (facts, cause) -> exception
  Ref facts_of;       // exception -> (code, kind, text, exception to keep), all of bounded size
  Ref meaning_of;     // exception -> "", "raised" or "signal"
  Ref variable;       // spillway.sessions.variable.Variable; instances have `_dtype_name`
};
PythonTypes& types();

// The exception now set, as a status: its code as TensorFlow gives it, itself as the cause. One
// that means more than a failure (interrupts.h) becomes an interruption, or is kept, and this is
// kCancelled.
Status status_from_exception();
// Sets the Python exception for an error of the engine's. Returns null, for tail calls.
PyObject* raise(const Status& error);
// The same. False: making it was interrupted, and what interrupted it is set.
bool raise_whole(const Status& error);

}  // namespace spillway::python
