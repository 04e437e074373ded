#include "whose_code.h"

// Only CPython's internal headers give the frames without allocating an object for each.
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include <algorithm>
#include <utility>

namespace spillway::python {
namespace {

// With the GIL; each is a str.
std::vector<PyObject*> libraries;
std::vector<PyObject*> tellers;

const _PyInterpreterFrame* innermost(const PyThreadState* thread) {
#if PY_VERSION_HEX < 0x030D0000
  return thread->cframe == nullptr ? nullptr : thread->cframe->current_frame;
#else
  return thread->current_frame;
#endif
}

// nullptr: a frame that stands for a call from C.
const PyCodeObject* code_of(const _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX < 0x030D0000
  PyObject* code = reinterpret_cast<PyObject*>(frame->f_code);
#else
  PyObject* code = frame->f_executable;
#endif
  return code != nullptr && PyCode_Check(code) ? reinterpret_cast<const PyCodeObject*>(code)
                                               : nullptr;
}

bool is_of(const PyCodeObject* code, const std::vector<PyObject*>& files) {
  return std::ranges::any_of(files, [&](PyObject* start) {
    return PyUnicode_Tailmatch(code->co_filename, start, 0, PY_SSIZE_T_MAX, -1) == 1;
  });
}

// Code that libraries make from text ("<string>") is theirs; a module of text is a program's.
bool is_users(const PyCodeObject* code) {
  if (PyUnicode_READ_CHAR(code->co_filename, 0) == '<') {
    return PyUnicode_CompareWithASCIIString(code->co_name, "<module>") == 0;
  }
  return !is_of(code, libraries);
}

void replace(std::vector<PyObject*>& files, const std::vector<PyObject*>& by) {
  for (PyObject* each : by) Py_INCREF(each);
  const auto before = std::exchange(files, by);
  for (PyObject* each : before) Py_DECREF(each);
}

}  // namespace

bool runs_for_the_user() {
  if (PyGILState_Check() == 0) return true;
  const PyThreadState* thread = PyGILState_GetThisThreadState();
  if (thread == nullptr) return true;
  const PyCodeObject* last = nullptr;
  for (const auto* frame = innermost(thread); frame != nullptr; frame = frame->previous) {
    const PyCodeObject* code = code_of(frame);
    if (code == nullptr || code == std::exchange(last, code)) continue;  // a recursion is one
    if (is_of(code, tellers)) return false;
    if (is_users(code)) return true;
  }
  return false;
}

void set_library_files(const std::vector<PyObject*>& of_libraries,
                       const std::vector<PyObject*>& of_tellers) {
  replace(libraries, of_libraries);
  replace(tellers, of_tellers);
}

}  // namespace spillway::python
