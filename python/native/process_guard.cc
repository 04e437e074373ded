// How the guardian stops a thread that fills memory: an exception at its next bytecode.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "admission.h"
#include "bindings.h"
#include "object_guard.h"
#include "objects.h"
#include "spillway/base/bytes.h"
#include "spillway/base/forks.h"
#include "spillway/memory/budget.h"
#include "spillway/memory/data_limit.h"
#include "spillway/memory/guardian.h"
#include "tensors.h"
#include "voice.h"
#include "whose_code.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// A child starts within this time, or inherits the limit of that moment.
constexpr std::int64_t kStartsWithinNs = 200'000'000;
constexpr std::size_t kEnoughForAnyLibrary = 512 * kMiB;

// With the GIL: gives the exception to raise here, or its class for another thread; None: neither.
PyObject* hook = nullptr;
PyObject* library_hook = nullptr;  // with the GIL: raises where a library's file cannot be loaded
std::atomic<bool> asked{false};    // a pending call is on its way, or runs
Guardian::Alarm last;              // with the GIL

nb::dict facts_of(const Guardian::Alarm& alarm) {
  nb::dict out;
  out["limit"] = alarm.room.limit;
  out["used"] = alarm.room.used;
  out["own"] = alarm.room.own;
  out["bound_by"] = alarm.room.bound_by;
  out["kept"] = alarm.kept;
  out["grew"] = alarm.grew;
  out["grew_arrays"] = alarm.grew_arrays;
  out["grew_ours"] = alarm.grew_ours;
  out["seconds"] = alarm.seconds;
  out["thread"] = alarm.thread;
  return out;
}

// A refusal has stopped the growth since, or there is room again.
bool is_still_due(const Guardian::Alarm& alarm) {
  return Guardian::process().refused_ns() < alarm.at_ns && Guardian::process().is_tight();
}

// On the main thread, between two bytecodes of whatever it runs.
int raise_here(void* /*unused*/) {
  int raised = 0;
  if (hook != nullptr && is_still_due(last)) {
    try {
      const nb::object error = nb::handle(hook)(facts_of(last), nb::none());
      if (!error.is_none()) {
        Guardian::process().error_is_told();
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
        raised = -1;
      }
    } catch (nb::python_error& failed) {
      failed.restore();  // Ctrl-C, for one
      raised = -1;
    }
  }
  asked = false;
  return raised;
}

// Python's number of a thread that the kernel numbers so; 0: it is none of Python's.
unsigned long python_thread(int native) {
  PyInterpreterState* interpreter = PyInterpreterState_Main();
  for (PyThreadState* each = PyInterpreterState_ThreadHead(interpreter); each != nullptr;
       each = PyThreadState_Next(each)) {
    if (each->native_thread_id == static_cast<unsigned long>(native)) return each->thread_id;
  }
  return 0;
}

// A thread that computes for another (a pool's) cannot be stopped: the one that waits for it can.
void stop_thread(const Guardian::Alarm& alarm) {
  if (hook == nullptr || !is_still_due(alarm)) return;
  last = alarm;
  const unsigned long thread = alarm.thread == getpid() ? 0 : python_thread(alarm.thread);
  if (thread == 0) {
    if (!asked.exchange(true) && Py_AddPendingCall(raise_here, nullptr) != 0) asked = false;
    return;
  }
  try {
    const nb::object kind = nb::handle(hook)(facts_of(alarm), thread);
    if (kind.is_none()) return;
    Guardian::process().error_is_told();
    PyThreadState_SetAsyncExc(thread, kind.ptr());
  } catch (nb::python_error& failed) {
    failed.discard_as_unraisable("spillway's guardian");
  }
}

// Of a library that is about to be loaded. What its initializers allocate cannot fail: C++ ends the
// process instead.
int before_library(PyObject* args) {
  PyObject* file =
      PyTuple_Check(args) && PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 1) : nullptr;
  if (library_hook == nullptr || file == nullptr || !PyUnicode_Check(file)) return 0;
  if (RoomGauge::process().look().unused() >= kEnoughForAnyLibrary) return 0;
  PyObject* answer = PyObject_CallOneArg(library_hook, file);
  Py_XDECREF(answer);
  return answer == nullptr ? -1 : 0;
}

int on_event(const char* event, PyObject* args, void* /*data*/) {
  const auto is = [event](const char* name) { return std::strcmp(event, name) == 0; };
  if (is("import")) return before_library(args);
  // A process that is started inherits the limit of this one.
  if (is("subprocess.Popen") || is("os.posix_spawn") || is("os.spawn") || is("os.system") ||
      is("os.fork") || is("os.forkpty") || is("os.exec") || is("pty.spawn")) {
    DataLimit::lift(kStartsWithinNs);
    Guardian::process().expect_child();
  }
  return 0;
}

void guard_process(bool on) {
  static const HomeProcess kHome;
  if (!kHome.here()) return;
  static const bool kAudited = PySys_AddAuditHook(on_event, nullptr) == 0;
  guard_objects(on);
  if (on && kAudited) {
    Guardian::process().start([](const Guardian::Alarm& alarm) {
      if (leaving || asked) return;
      Voice::process().post([alarm] { stop_thread(alarm); });
    });
  } else {
    const WithoutGil free;
    Guardian::process().stop();
  }
}

nb::dict dict_of(const Room& room) {
  nb::dict out;
  out["limit"] = room.limit;
  out["used"] = room.used;
  out["own"] = room.own;
  out["untouched"] = room.untouched;
  out["kept"] = kept_free(room.limit);
  out["bound_by"] = room.bound_by;
  out["arrays"] = Guardian::process().arrays();
  out["alarms"] = Guardian::process().alarms();
  out["close_looks"] = Guardian::process().close_looks();
  return out;
}

std::vector<PyObject*> pointers(const std::vector<nb::str>& texts) {
  std::vector<PyObject*> out;
  out.reserve(texts.size());
  for (const nb::str& each : texts) out.push_back(each.ptr());
  return out;
}

}  // namespace

std::string& Admission::refusal() {
  thread_local std::string text;
  return text;
}

void end_process_guard() { guard_process(false); }

void bind_process_guard(nb::module_& m) {
  m.def("guard_process", &guard_process);
  m.def(
      "last_refusal", [] { return std::exchange(Admission::refusal(), std::string()); },
      "Why the last allocation of this thread was refused; empty: none was since the last call.");
  m.def(
      "room", [] { return dict_of(RoomGauge::process().look_closely()); },
      "What the container allows, and what is used of it, read now.");
  m.def(
      "fullest_room", [] { return dict_of(Guardian::process().fullest()); },
      "The same at the moment of the last seconds when the least was free.");
  m.def(
      "error_is_told", [] { Guardian::process().error_is_told(); },
      "Lets small allocations through for some seconds, so that an error can be told.");
  m.def(
      "is_tight", [] { return Guardian::process().is_tight(); },
      "Whether less is free than what the guardian keeps free.");
  m.def(
      "set_library_files",
      [](const std::vector<nb::str>& of_libraries, const std::vector<nb::str>& of_tellers) {
        set_library_files(pointers(of_libraries), pointers(of_tellers));
      },
      "How the files of libraries begin, and of what tells an error: neither is refused an "
      "object.");
  m.def("set_alarm_hook", [](const nb::object& callable) {
    Py_XDECREF(std::exchange(hook, Py_NewRef(callable.ptr())));
  });
  m.def("set_library_hook", [](const nb::object& callable) {
    Py_XDECREF(std::exchange(library_hook, Py_NewRef(callable.ptr())));
  });
  m.def(
      "give_back",
      [](std::size_t wanted) {
        std::size_t freed = 0;
        {
          const WithoutGil free;
          freed = Budget::process().reclaim(wanted);
        }
        if (freed < wanted) freed += spill_tensors(wanted - freed);
        return freed;
      },
      "Frees what is ours and can be made again or read back: about how many bytes it was.");
}

}  // namespace spillway::python
