#include "python.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>
#include <semaphore>
#include <thread>

#include "interrupts.h"
#include "spillway/base/interruption.h"
#include "spillway/base/thread.h"

namespace spillway::python {
namespace {

// A lock-free stack of references dropped without the GIL.
struct Dropped {
  PyObject* object;
  Dropped* next;
};
thread_local bool ends_interpreter = false;  // this thread does

// Whether the interpreter is ending and listens to another thread only. One that asks it for
// anything is then ended where it stands, through whatever destructors there are. What it had of
// the interpreter is gone; PyGILState_Check() does not tell, it says yes to everybody in the end.
bool evicted() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0 && !ends_interpreter;
#else
  return _Py_IsFinalizing() != 0 && !ends_interpreter;
#endif
}

std::atomic<Dropped*> dropped{nullptr};

#if PY_VERSION_HEX >= 0x030C0000
int drop_from_interpreter(void*) {
  drop_pending_objects();
  return 0;
}
void ask_interpreter() { Py_AddPendingCall(drop_from_interpreter, nullptr); }
#else
// Before 3.12, Py_AddPendingCall looks at the state of whichever thread has the GIL, and that
// thread may be ending. So a thread of ours takes the GIL, if nobody emptied the list meanwhile:
// whoever comes back from the engine does.
std::atomic<bool> asked{false};
std::binary_semaphore& wanted() {
  static auto& semaphore = *new std::binary_semaphore(0);
  return semaphore;
}
void drop_now_and_then() {
  for (;;) {
    wanted().acquire();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    asked = false;
    if (dropped.load() != nullptr) const WithGil gil;
  }
}
bool start_dropping() {
  // Without a thread the references stay until somebody enters the interpreter.
  return start_thread(drop_now_and_then).ok();
}
void ask_interpreter() {
  static const bool kStarted = start_dropping();
  if (kStarted && !asked.exchange(true)) wanted().release();
}
#endif

struct Kept {
  explicit Kept(PyObject* held) : object(held) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  PyObject* object;
  ~Kept() {
    if (!Py_IsInitialized() || evicted()) return;
    if (PyGILState_Check() != 0) {
      Py_DECREF(object);
      return;
    }
    auto* entry = new (std::nothrow) Dropped{object, dropped.load()};
    if (entry == nullptr) return;  // out of memory: the reference stays
    while (!dropped.compare_exchange_weak(entry->next, entry)) {
    }
    ask_interpreter();
  }
};

void set_item(PyObject* dict, const char* key, PyObject* value) {
  PyDict_SetItemString(dict, key, value);
  Py_DECREF(value);
}

PyObject* text(std::string_view value) {
  return PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), "replace");
}

PyGILState_STATE enter() {
  while (leaving && !ends_interpreter) pause();
  return PyGILState_Ensure();
}

}  // namespace

std::atomic<bool> leaving{false};

void park_if_evicted() {
  while (evicted() || PyGILState_Check() == 0) pause();
}

void leave_interpreter() {
  ends_interpreter = true;
  leaving = true;
}

WithGil::WithGil() : state_(enter()) {
  if (dropped.load(std::memory_order_relaxed) != nullptr) drop_pending_objects();
}
WithGil::~WithGil() {
  if (leaving) park_if_evicted();
  PyGILState_Release(state_);
}

WithoutGil::~WithoutGil() {
  while (leaving && !ends_interpreter) pause();
  PyEval_RestoreThread(state_);
  if (dropped.load(std::memory_order_relaxed) != nullptr) drop_pending_objects();
}

std::shared_ptr<void> keep_object(Ref object) {
  return std::shared_ptr<void>(std::make_shared<Kept>(object.release()));
}

PyObject* kept_object(const std::shared_ptr<void>& kept) {
  return kept == nullptr ? nullptr : static_cast<Kept*>(kept.get())->object;
}

void drop_pending_objects() {
  Dropped* entry = dropped.exchange(nullptr);
  while (entry != nullptr) {
    Dropped* next = entry->next;
    Py_DECREF(entry->object);
    delete entry;
    entry = next;
  }
}

PythonTypes& types() {
  static auto& all = *new PythonTypes;  // outlives the interpreter's own teardown
  return all;
}

namespace {

constexpr std::size_t kMostName = 200;  // of a class, in messages

std::string chars_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const chars = PyUnicode_AsUTF8AndSize(text, &size);
  if (chars != nullptr) return {chars, static_cast<std::size_t>(size)};
  PyErr_Clear();  // a lone surrogate
  const Ref bytes = Ref::steal(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (!bytes) return "";
  return {PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

ErrorKind kind_named(const std::string& name) {
  if (name == "resource") return ErrorKind::kResource;
  if (name == "transient") return ErrorKind::kTransient;
  return name == "data" ? ErrorKind::kData : ErrorKind::kUser;
}

}  // namespace

Status status_from_exception() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (type == nullptr) return internal_bug("a Python call failed without an exception");
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  Ref exception = Ref::steal(value);
  const Meaning meaning = meaning_of(exception.get());
  if (meaning == Meaning::kSignal && Interrupts::here()) {
    keep_interruption(std::move(exception));
    return cancelled();
  }
  ErrorInfo info;
  info.kind = ErrorKind::kUser;
  info.code = Code::kUnknown;
  std::string words;
  Ref facts = Ref::steal(PyObject_CallOneArg(types().facts_of.get(), exception.get()));
  if (!facts && forget_exception()) {  // interrupted: the failure is told all the same
    facts = Ref::steal(PyObject_CallOneArg(types().facts_of.get(), exception.get()));
  }
  if (facts) {
    info.code = static_cast<Code>(PyLong_AsLong(PyTuple_GET_ITEM(facts.get(), 0)));
    info.kind = kind_named(chars_of(PyTuple_GET_ITEM(facts.get(), 1)));
    words = chars_of(PyTuple_GET_ITEM(facts.get(), 2));
    exception = Ref::borrow(PyTuple_GET_ITEM(facts.get(), 3));
  }
  forget_exception();  // Ctrl-C in the user's own `__str__` is kept
  if (meaning != Meaning::kFailure) {
    info.code = Code::kCancelled;
    info.type = kInterruption;
  }
  info.message = std::string_view(Py_TYPE(exception.get())->tp_name).substr(0, kMostName);
  if (!words.empty()) info.message += ": " + words;
  info.cause = keep_object(std::move(exception));
  return Status(std::move(info));
}

PyObject* raise(const Status& error) {
  raise_whole(error);
  return nullptr;
}

bool raise_whole(const Status& error) {
  const ErrorInfo& info = error.info();
  const Ref facts = Ref::steal(PyDict_New());
  PyObject* d = facts.get();
  set_item(d, "kind", text(to_string(info.kind)));
  set_item(d, "code", PyLong_FromLong(static_cast<long>(info.code)));
  set_item(d, "message", text(info.message));
  set_item(d, "type", text(info.type));
  set_item(d, "stage", text(info.stage));
  set_item(d, "line", text(info.line));
  set_item(d, "origin", text(info.origin));
  set_item(d, "file", text(info.file));
  const auto number = [](std::int64_t value) {
    return value < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(value);
  };
  set_item(d, "offset", number(info.offset));
  set_item(d, "index", number(info.index));
  set_item(d, "epoch", number(info.epoch));
  set_item(d, "attempts", PyLong_FromLong(info.attempts));
  PyObject* cause = kept_object(info.cause);
  const Ref exception = Ref::steal(PyObject_CallFunctionObjArgs(
      types().make_error.get(), d, cause == nullptr ? Py_None : cause, nullptr));
  if (exception) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
  }
  return static_cast<bool>(exception);
}

}  // namespace spillway::python
