#include "interrupts.h"

#include <string_view>
#include <utility>

#include "bindings.h"

namespace spillway::python {
namespace {

thread_local Interrupts* current = nullptr;

// The exception now set, whole.
Ref taken_exception() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (type == nullptr) return {};
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return Ref::steal(value);
}

void set_exception(PyObject* exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
}

int raise_late(void* exception) {
  const Ref owned = Ref::steal(static_cast<PyObject*>(exception));
  set_exception(owned.get());
  return -1;
}

}  // namespace

Interrupts::Interrupts(InterruptScope::Poll poll)
    : outer_(std::exchange(current, this)), scope_(poll == nullptr ? poll_python : poll) {}

Interrupts::~Interrupts() {
  current = outer_;
  if (raised_) keep_interruption(std::move(raised_));  // nobody raised it here
}

bool Interrupts::raise() {
  if (!raised_) return false;
  const Ref exception = std::exchange(raised_, Ref());
  PyErr_Clear();  // what was said meanwhile: that the work was cancelled
  set_exception(exception.get());
  return true;
}

bool Interrupts::waiting() { return current != nullptr && current->raised_; }

bool Interrupts::here() { return current != nullptr; }

bool Interrupts::poll_python() {
  if (current->raised_) return true;
  const WithGil gil;
  if (PyErr_CheckSignals() == 0) return false;
  Interrupts* const mine = current;
  mine->raised_ = taken_exception();
  note_wait(mine->raised_.get());
  return true;
}

UserCode::UserCode() : outer_(std::exchange(current, nullptr)) {}
UserCode::~UserCode() { current = outer_; }

Meaning meaning_of(PyObject* exception) {
  const Ref meant = Ref::steal(PyObject_CallOneArg(types().meaning_of.get(), exception));
  if (!meant) {
    // It does not fail by itself: it was interrupted.
    Ref second = taken_exception();
    if (PyObject_IsInstance(exception, PyExc_Exception) == 0) return Meaning::kSignal;
    keep_interruption(std::move(second));
    return Meaning::kFailure;
  }
  const char* word = PyUnicode_AsUTF8(meant.get());
  const std::string_view name = word == nullptr ? "" : word;
  return name == "signal"   ? Meaning::kSignal
         : name == "raised" ? Meaning::kRaised
                            : Meaning::kFailure;
}

void keep_interruption(Ref exception) {
  if (!exception) return;
  if (current != nullptr) {
    if (!current->raised_) current->raised_ = std::move(exception);
    return;
  }
  PyObject* late = exception.release();
  if (Py_AddPendingCall(raise_late, late) != 0) Py_DECREF(late);  // dozens wait already
}

bool forget_exception() {
  if (PyErr_Occurred() == nullptr) return false;
  Ref exception = taken_exception();
  if (meaning_of(exception.get()) != Meaning::kSignal) return false;
  keep_interruption(std::move(exception));
  return true;
}

bool tell_unraisable(PyObject* where) {
  Ref exception = taken_exception();
  if (!exception) return false;
  if (meaning_of(exception.get()) == Meaning::kSignal) {
    keep_interruption(std::move(exception));
    return true;
  }
  set_exception(exception.get());
  PyErr_WriteUnraisable(where);
  return false;
}

}  // namespace spillway::python
