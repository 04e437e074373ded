// Worker processes: the pool on this side, the loop on theirs.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "bindings.h"
#include "interrupts.h"
#include "objects.h"
#include "spillway/guard/copies.h"
#include "spillway/guard/fork_server.h"
#include "spillway/guard/sandbox.h"
#include "spillway/guard/stack_dump.h"
#include "spillway/guard/worker_pool.h"
#include "spillway/guard/worker_verbs.h"
#include "spillway/pipeline/guarded_function.h"
#include "spillway/pipeline/guarded_generator.h"
#include "spillway/pipeline/worker_loop.h"
#include "workers.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// What Python code of the package does for both sides.
struct Hooks {
  Ref environment;      // () -> bytes: what a worker must know of this process
  Ref write_exception;  // exception -> bytes
  Ref read_exception;   // bytes -> exception
  Ref read_untrusted;   // the same for what a sandboxed worker wrote
};
Hooks& hooks() {
  static auto& all = *new Hooks;
  return all;
}

std::string bytes_of(PyObject* object) {
  if (object == nullptr || PyBytes_Check(object) == 0) {
    forget_exception();
    return "";
  }
  return {PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
}

// What a hook of the package gives, which does not fail by itself: where a signal's handler cut it
// short, it is asked once more. Null: it failed all the same.
Ref hooked(const Ref& hook, PyObject* argument) {
  const auto ask = [&] {
    return Ref::steal(PyObject_CallFunctionObjArgs(hook.get(), argument, nullptr));
  };
  Ref made = ask();
  if (!made && forget_exception()) made = ask();
  return made;
}

std::string write_cause(const std::shared_ptr<void>& cause) {
  const WithGil gil;
  return bytes_of(hooked(hooks().write_exception, kept_object(cause)).get());
}

std::shared_ptr<void> read_with(const Ref& hook, std::string_view bytes) {
  const WithGil gil;
  const Ref given =
      Ref::steal(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
  Ref made = hooked(hook, given.get());
  forget_exception();
  return made ? keep_object(std::move(made)) : nullptr;
}

std::shared_ptr<void> read_cause(std::string_view bytes) {
  return read_with(hooks().read_exception, bytes);
}
std::shared_ptr<void> read_untrusted(std::string_view bytes) {
  return read_with(hooks().read_untrusted, bytes);
}

std::string environment() {
  const WithGil gil;
  return bytes_of(hooked(hooks().environment, nullptr).get());
}

// The workers of this process, and those in sandboxes; null before any was asked for.
using Pools = std::array<std::shared_ptr<WorkerPool>, 2>;
Pools& pools() {
  static auto& all = *new Pools;
  return all;
}

// What `load` makes of what traveled.
Ref loaded(PyObject* load, const Parcel& sent) {
  const nb::tuple given = to_python(sent);
  return Ref::steal(PyObject_CallObject(load, given.ptr()));
}

Result<FunctionPtr> load_function(PyObject* load, const Parcel& sent, StructurePtr output,
                                  std::string name) {
  const WithGil gil;
  Ref callable = loaded(load, sent);
  end_copy_of_worker();
  if (!callable) return status_from_exception();
  if (FunctionPtr traced = function_if_one(callable.get())) return traced;
  return make_function(std::move(callable), std::move(output), "", std::move(name), false, "");
}

// A generator travels as a callable and its arguments.
Result<std::shared_ptr<GeneratorFactory>> load_generator(PyObject* load, const Parcel& sent,
                                                         StructurePtr output, std::string name) {
  const WithGil gil;
  const Ref pair = loaded(load, sent);
  end_copy_of_worker();
  if (!pair) return status_from_exception();
  if (PyTuple_Check(pair.get()) == 0 || PyTuple_GET_SIZE(pair.get()) != 2) {
    return internal_bug("a generator travels with its arguments");
  }
  return std::static_pointer_cast<GeneratorFactory>(make_generator(
      Ref::borrow(PyTuple_GET_ITEM(pair.get(), 0)), Ref::borrow(PyTuple_GET_ITEM(pair.get(), 1)),
      std::move(output), "", std::move(name)));
}

// Calls a hook of the worker's that answers nothing; what it raises ends the worker.
template <class... Args>
void tell(const nb::object& hook, Args... args) {
  const WithGil gil;
  try {
    hook(args...);
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_Print();
    _exit(1);
  }
}

void serve(int channel, int memory, const nb::object& load, const nb::object& answer,
           const nb::object& become, const nb::object& seed) {
  auto shared = value_or_throw(SharedMemory::open(memory));
  const Ref loader = Ref::borrow(load.ptr());
  const Ref server = Ref::borrow(answer.ptr());
  WorkerFront front;
  front.become = [&become](const WorkerKind& kind) {
    tell(become, kind.memory_limit, kind.sandboxed);
  };
  front.seed = [&seed](std::uint8_t draws, std::uint64_t number) { tell(seed, draws, number); };
  front.load = [&loader](const Parcel& sent, StructurePtr output, std::string name) {
    return load_function(loader.get(), sent, std::move(output), std::move(name));
  };
  front.begin = [&loader](const Parcel& sent, StructurePtr output, std::string name) {
    return load_generator(loader.get(), sent, std::move(output), std::move(name));
  };
  front.serve = [&server](const Parcel& request) { return serve_parcel(server.get(), request); };
  const WithoutGil unlocked;
  begin_as_worker();
  Budget::process().stop_watching();
  WorkerLoop loop(Channel(Descriptor(channel)), std::move(shared), Budget::process(),
                  std::move(front));
  loop.run();
}

}  // namespace

GuardRules rules_of(const nb::dict& given) {
  GuardRules rules;
  const auto read = [&given](const char* name, auto& to) {
    if (given.contains(name)) to = nb::cast<std::remove_reference_t<decltype(to)>>(given[name]);
  };
  read("timeout", rules.timeout_s);
  read("restarts", rules.restarts);
  read("most", rules.most);
  read("report_after", rules.report_after_s);
  read("memory_limit", rules.kind.memory_limit);
  read("sandbox", rules.kind.sandboxed);
  read("folders", rules.kind.folders);
  read("draws", rules.draws);
  read("seed", rules.seed);
  return rules;
}

const std::shared_ptr<WorkerPool>& worker_pool(const std::vector<std::string>& command,
                                               const WorkerKind& kind) {
  std::shared_ptr<WorkerPool>& pool = pools()[kind.sandboxed ? 1 : 0];
  if (pool == nullptr || !pool->check_home().ok()) {
    pool = std::make_shared<WorkerPool>(Budget::process(),
                                        std::make_shared<ForkServer>(command, environment));
  }
  return pool;
}

void end_workers() {
  for (const std::shared_ptr<WorkerPool>& pool : pools()) {
    if (pool == nullptr) continue;
    const WithoutGil unlocked;
    pool->end_idle();
  }
}

void bind_workers(nb::module_& m) {
  m.def(
      "set_worker_hooks",
      [](nb::object environment_hook, nb::object write, nb::object read, nb::object untrusted,
         nb::object tell) {
        hooks() = {Ref::borrow(environment_hook.ptr()), Ref::borrow(write.ptr()),
                   Ref::borrow(read.ptr()), Ref::borrow(untrusted.ptr())};
        cause_carrier() = {write_cause, read_cause, read_untrusted};
        listen_to_reports(Ref::borrow(tell.ptr()));
      },
      nb::arg("environment"), nb::arg("write_exception"), nb::arg("read_exception"),
      nb::arg("read_untrusted"), nb::arg("report"));
  m.def(
      "guarded_function",
      [](nb::handle function, nb::handle travels, const std::vector<std::string>& command,
         const nb::dict& rules) {
        const GuardRules how = rules_of(rules);
        return function_to_python(std::make_shared<GuardedFunction>(
            function_of(function), cargo_of(travels), worker_pool(command, how.kind), how));
      },
      nb::arg("function"), nb::arg("travels"), nb::arg("command"), nb::arg("rules"),
      "A Python function of the engine's, run in worker processes.");
  m.def(
      "guarded_generator",
      [](nb::handle generator, nb::handle travels, nb::handle structure,
         const std::vector<std::string>& command, const nb::dict& rules) {
        const GuardRules how = rules_of(rules);
        return object_to_python(std::make_shared<GuardedGeneratorFactory>(
            std::dynamic_pointer_cast<GeneratorFactory>(object_of(generator)), cargo_of(travels),
            structure.is_none() ? nullptr : structure_of(structure), worker_pool(command, how.kind),
            how));
      },
      nb::arg("generator"), nb::arg("travels"), nb::arg("structure").none(), nb::arg("command"),
      nb::arg("rules"), "A generator of the engine's, run in a worker process.");
  m.def("serve", &serve, nb::arg("channel"), nb::arg("memory"), nb::arg("load"), nb::arg("answer"),
        nb::arg("become"), nb::arg("seed"),
        "A worker's life: returns when the process that it works for is gone.");
  m.def(
      "die_with_parent",
      [](int parent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
      },
      "Killed as soon as the process that forked this one is gone.");
  m.def("end_idle_workers", &end_workers, "Ends those that nobody uses.");
  m.def(
      "workers",
      [] {
        std::int64_t started = 0;
        std::size_t idle = 0;
        for (const std::shared_ptr<WorkerPool>& pool : pools()) {
          started += pool == nullptr ? 0 : pool->started();
          idle += pool == nullptr ? 0 : pool->idle();
        }
        nb::dict out;
        out["started"] = started;
        out["idle"] = idle;
        return out;
      },
      "How many workers were started, and how many wait for work.");
  m.def(
      "sandbox_refusal",
      [](bool folders) {
        const Status possible = sandbox_possible(folders);
        return possible.ok() ? std::string() : std::string(possible.message());
      },
      nb::arg("folders"), "Why there is no sandbox on this machine; empty: there is one.");
  m.def("mark_end_of_stacks", &mark_end_of_stacks, nb::arg("signal"), nb::arg("fd"),
        "Lets the handler of a signal be followed by the mark that ends what it wrote.");
  m.def("report_sandbox_to", &report_sandbox_to, nb::arg("fd"),
        "Where a sandboxed process writes what ended it.");
}

}  // namespace spillway::python
