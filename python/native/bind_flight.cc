// The watchdog's and the flight recorder's Python side: stacks, reports, records.
#include <nanobind/stl/string.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "bindings.h"
#include "interrupts.h"
#include "spillway/base/clock.h"
#include "spillway/guard/death.h"
#include "spillway/observe/flight_file.h"
#include "spillway/observe/report.h"
#include "spillway/observe/watchdog.h"
#include "voice.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

using std::chrono::milliseconds;

// The interpreter goes round in 5 ms: who does not get it in so long will not.
constexpr milliseconds kStackWait(300);
constexpr milliseconds kReportWait(1000);
constexpr std::size_t kMostStack = 1 << 20;

struct Hooks {
  Ref begin;   // () -> None: before the first pass
  Ref stack;   // ident -> str: the user's frames of a thread
  Ref report;  // str -> None
  Ref taken;   // (str, list) -> None: another process takes the memory
  Ref around;  // () -> None: every ten seconds of a pass
};
Hooks& hooks() {
  static auto& all = *new Hooks;
  return all;
}

// What faulthandler writes to when it is sent `number`; 0: it could not be set up.
struct StackSignal {
  std::atomic<int> number{0};
  int file = -1;
  std::string package;  // its frames are ours
};
StackSignal& stack_signal() {
  static auto& one = *new StackSignal;
  return one;
}

Ref shown(std::string_view text) {
  return Ref::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// Whoever holds the interpreter stands still, and all others wait for it: the frames do not move
// while they are read. The signal goes to this thread alone, so no system call of the user's is
// cut short.
std::string stack_without_interpreter(std::uint64_t ident) {
  const StackSignal& how = stack_signal();
  const int number = how.number;
  if (number == 0) {
    return "  (unknown: the interpreter is held by code that is not Python, and no signal was free "
           "to look past it)\n";
  }
  if (ftruncate(how.file, 0) != 0 || lseek(how.file, 0, SEEK_SET) != 0) return "";
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_kill(pthread_self(), number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);  // faulthandler writes now
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  const off_t size = lseek(how.file, 0, SEEK_END);
  std::string all(std::min(static_cast<std::size_t>(std::max<off_t>(size, 0)), kMostStack), '\0');
  const ssize_t got = pread(how.file, all.data(), all.size(), 0);
  all.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return users_part(part_of_thread(all, ident), how.package);
}

// With the GIL; where it fails, an exception is set.
std::string stack_here(std::uint64_t ident) {
  const Ref number = Ref::steal(PyLong_FromUnsignedLongLong(ident));
  const Ref made = Ref::steal(PyObject_CallOneArg(hooks().stack.get(), number.get()));
  const char* text = made ? PyUnicode_AsUTF8(made.get()) : nullptr;
  return text == nullptr ? "" : text;
}

std::string stack_of(std::uint64_t ident) {
  const auto found = std::make_shared<std::string>();
  const Voice::Said said = Voice::process().say(
      [found, ident] {
        *found = stack_here(ident);
        if (PyErr_Occurred() != nullptr) tell_unraisable(nullptr);
      },
      kStackWait);
  if (said == Voice::Said::kAll) return *found;
  return said == Voice::Said::kNothing ? stack_without_interpreter(ident) : "";
}

// To Python's logging; where nobody can enter the interpreter, to standard error.
void report(const std::string& text) {
  const Voice::Said said = Voice::process().say(
      [text] {
        const Ref words = shown(text);
        if (!hooks().report || !words) return;
        const Ref done = Ref::steal(PyObject_CallOneArg(hooks().report.get(), words.get()));
        if (!done) tell_unraisable(nullptr);
      },
      kReportWait);
  if (said != Voice::Said::kNothing) return;
  const std::string line = "spillway: " + text + "\n";
  static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
}

nb::list competitor_list(const std::vector<Competitor>& all) {
  nb::list out;
  for (const Competitor& each : all) {
    nb::dict row;
    row["pid"] = each.pid;
    row["command"] = nb::steal(shown(each.command).release());
    row["resident"] = each.resident;
    row["grown"] = each.grown;
    out.append(row);
  }
  return out;
}

void tell_taken(const Competition& taken) {
  Voice::process().say(
      [taken] {
        if (!hooks().taken) return;
        const Ref words = shown(to_string(taken));
        const nb::list by = competitor_list(taken.by);
        const Ref done = Ref::steal(
            PyObject_CallFunctionObjArgs(hooks().taken.get(), words.get(), by.ptr(), nullptr));
        if (!done) tell_unraisable(nullptr);
      },
      kReportWait);
}

void look_around() {
  Voice::process().say(
      [] {
        if (!hooks().around) return;
        const Ref done = Ref::steal(PyObject_CallNoArgs(hooks().around.get()));
        if (!done) tell_unraisable(nullptr);
      },
      kStackWait);
}

int free_signal() {
  for (int number = SIGRTMAX - 1; number > SIGRTMIN; --number) {
    struct sigaction now{};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) return number;
  }
  return 0;
}

nb::object text_object(std::string_view text) { return nb::steal(shown(text).release()); }

nb::dict task_dict(const FlightRecord::Task& task) {
  nb::dict out;
  out["thread"] = task.thread;
  out["level"] = task.level;
  out["phase"] = static_cast<int>(task.phase);
  out["whole"] = task.whole;
  out["text"] = text_object(task.text);
  out["detail"] = text_object(task.detail);
  out["epoch"] = task.epoch;
  out["element"] = task.element;
  out["seconds"] = task.seconds;
  out["amount"] = task.amount;
  return out;
}

nb::dict memory_dict(const FlightRecord::Memory& memory) {
  nb::dict out;
  out["ago"] = memory.ago;
  out["used"] = memory.used;
  out["limit"] = memory.limit;
  out["untracked"] = memory.untracked;
  out["own"] = memory.own;
  out["container"] = memory.container;
  out["container_used"] = memory.container_used;
  out["oom_kills"] = memory.oom_kills;
  nb::list holders;
  for (const FlightRecord::Holder& holder : memory.holders) {
    holders.append(nb::make_tuple(text_object(holder.text), holder.bytes));
  }
  out["holders"] = holders;
  return out;
}

nb::dict record_dict(const FlightRecord& record) {
  nb::dict out;
  out["pid"] = record.pid;
  out["boot"] = text_object(record.boot);
  out["host"] = text_object(record.host);
  out["cgroup"] = text_object(record.cgroup);
  out["program"] = text_object(record.program);
  out["interpreter"] = text_object(record.interpreter);
  out["began"] = record.began;
  out["last_seen"] = record.last_seen;
  out["oom_kills"] = record.oom_kills;
  out["open"] = record.open;
  out["handed"] = record.handed;
  out["handed_by"] = text_object(record.handed_by);
  out["handed_file"] = text_object(record.handed_file);
  out["reports"] = record.reports;
  out["report"] = text_object(record.report);
  out["report_ago"] = record.report_ago;
  nb::list tasks;
  for (const FlightRecord::Task& task : record.tasks) tasks.append(task_dict(task));
  out["tasks"] = tasks;
  nb::list memory;
  for (const FlightRecord::Memory& each : record.memory) memory.append(memory_dict(each));
  out["memory"] = memory;
  return out;
}

std::int64_t kills_now() {
  const auto kills = oom_kills();
  return kills ? static_cast<std::int64_t>(*kills) : -1;
}

}  // namespace

void listen_to_reports(Ref report_hook) {
  hooks().report = std::move(report_hook);
  set_guard_report(report);
}

void begin_watching() {
  static bool begun = false;  // with the GIL
  if (begun || !hooks().begin) return;
  begun = true;
  const Ref done = Ref::steal(PyObject_CallNoArgs(hooks().begin.get()));
  if (!done && tell_unraisable(hooks().begin.get())) begun = false;
}

void note_wait(PyObject* exception) {
  constexpr std::int64_t kLeastNs = 1'000'000'000;
  constexpr std::size_t kMostStalls = 3;
  StallFinder finder(1);
  auto stalls = finder.waited_for(now_ns(), kLeastNs);
  if (stalls.empty()) return;
  stalls.resize(std::min(stalls.size(), kMostStalls));
  std::string text = "Interrupted while waiting for a pipeline:";
  for (const StallFinder::Stall& stall : stalls) {
    const std::string stack = hooks().stack ? stack_here(stall.ident) : "";
    forget_exception();
    text += "\n" + stall.text + (stack.empty() ? "" : ". It is here:\n" + stack);
  }
  const Ref words = shown(text);
  const Ref done =
      words ? Ref::steal(PyObject_CallMethod(exception, "add_note", "O", words.get())) : Ref();
  if (!done) forget_exception();
}

void bind_flight(nb::module_& m) {
  m.def(
      "set_flight_hook", [](nb::object begin) { hooks().begin = Ref::borrow(begin.ptr()); },
      nb::arg("begin"), "Called once, before the first pass of the process.");
  m.def(
      "set_watchdog_hooks",
      [](nb::object stack, nb::object tell, const std::string& package) {
        hooks().stack = Ref::borrow(stack.ptr());
        stack_signal().package = package;
        listen_to_reports(Ref::borrow(tell.ptr()));
        Watchdog::process().set_stacks(stack_of);
      },
      nb::arg("stack"), nb::arg("report"), nb::arg("package"));
  m.def(
      "set_taken_hook",
      [](nb::object taken) {
        hooks().taken = Ref::borrow(taken.ptr());
        Watchdog::process().set_tell_taken(tell_taken);
      },
      nb::arg("taken"), "Called with a text and who they are when others take the memory.");
  m.def(
      "set_around_hook",
      [](nb::object around) {
        hooks().around = Ref::borrow(around.ptr());
        Watchdog::process().set_look_around(look_around);
      },
      nb::arg("around"), "Called every ten seconds while a pass is open.");
  m.def(
      "competitors",
      [] {
        const auto found = [] {
          const WithoutGil free;
          return CompetitorWatch::process().now();
        }();
        return competitor_list(found);
      },
      "Other processes that grew since the watchdog looked at them.");
  m.def("free_signal", &free_signal, "A real-time signal that nobody handles; 0: there is none.");
  m.def(
      "set_stack_signal",
      [](int number, int file) {
        stack_signal().file = file;
        stack_signal().number = number;
      },
      nb::arg("number"), nb::arg("file"));
  m.def(
      "set_report_after", [](double s) { Watchdog::process().set_report_after(s); },
      nb::arg("seconds"), "Seconds before a stall is reported; 0: as at the start.");
  m.def("report_after", [] { return Watchdog::process().report_after(); });
  m.def(
      "begin_flight",
      [](const std::string& folder, const std::string& program, const std::string& interpreter) {
        const Status begun =
            begin_flight(folder, {program, interpreter, memory_cgroup(), kills_now()});
        return text_object(begun.ok() ? "" : begun.message());
      },
      nb::arg("folder"), nb::arg("program"), nb::arg("interpreter"),
      "Records what runs, in a file there. Returns why not, or nothing.");
  m.def("end_flight", &end_flight);
  m.def("flight_path", [] { return text_object(flight_path()); });
  m.def(
      "take_dead_flight",
      [](const std::string& folder, const std::string& program) -> nb::object {
        const auto dead = take_dead_flight(folder, program);
        if (!dead) return nb::none();
        return nb::make_tuple(record_dict(dead->record), dead->others);
      },
      nb::arg("folder"), nb::arg("program") = "");
  m.def(
      "last_flight",
      [](const std::string& folder) -> nb::object {
        const auto record = last_flight(folder);
        if (!record.ok()) return text_object(record.error().message());
        return record_dict(record.value());
      },
      nb::arg("folder"), "The record that was found last, or why there is none.");
  m.def(
      "flight_surroundings", [] { return nb::make_tuple(memory_cgroup(), kills_now(), boot_id()); },
      "The group of processes that this one belongs to, how often the kernel has killed there, and "
      "which start of the machine this is.");
}

}  // namespace spillway::python
