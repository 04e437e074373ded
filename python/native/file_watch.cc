#include "file_watch.h"

#include "python.h"

namespace spillway::python {
namespace {

thread_local bool watching = false;
thread_local std::string last_file;

int on_event(const char* event, PyObject* args, void*) {
  if (!watching || std::string_view(event) != "open" || !PyTuple_Check(args) ||
      PyTuple_GET_SIZE(args) < 1) {
    return 0;
  }
  PyObject* path = PyTuple_GET_ITEM(args, 0);
  if (PyUnicode_Check(path)) {
    if (const char* text = PyUnicode_AsUTF8(path)) last_file = text;
    PyErr_Clear();
  } else if (PyBytes_Check(path)) {
    last_file = PyBytes_AS_STRING(path);
  }
  return 0;
}

}  // namespace

FileWatch::FileWatch() : before_(watching) { watching = true; }
FileWatch::~FileWatch() { watching = before_; }
std::string FileWatch::last() { return last_file; }
void FileWatch::install() { PySys_AddAuditHook(on_event, nullptr); }

}  // namespace spillway::python
