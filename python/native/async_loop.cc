// The event loop of async functions, and its face to Python.
#include "async_loop.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <utility>

#include "async_function.h"
#include "bindings.h"
#include "objects.h"
#include "spillway/base/clock.h"
#include "spillway/base/thread.h"
#include "spillway/guard/copies.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

constexpr std::int64_t kStuckNs = 2'000'000'000;
constexpr auto kEndFor = std::chrono::milliseconds(300);
thread_local bool is_loop = false;

}  // namespace

AsyncHooks& async_hooks() {
  static auto& all = *new AsyncHooks;
  return all;
}

Ref AsyncCall::start() { return function_->invoke(*row_.structure(), row_.row(0)); }

void AsyncCall::finish(PyObject* result) {
  note_cpu();
  Taken taken;
  StructurePtr known = function_->known_output();
  if (!PyFunction::take(result, known, account_, taken)) {
    outcome_.error = status_from_exception();
  } else {
    if (known == nullptr) known = function_->learn(taken.structure);
    outcome_.out = Chunk::from_row(known, Row{std::move(taken.values), {}});
  }
}

void AsyncCall::fail(PyObject* error) {
  note_cpu();
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  outcome_.error = status_from_exception();
}

void AsyncCall::note_cpu() {
  if (const auto owner = loop()) outcome_.cpu_ns = owner->cpu_share();
}

void AsyncCall::settle() {
  end_copy_of_worker();
  row_ = Chunk();
  AwaitedFunction::Done done = std::move(done_);
  done(std::move(outcome_));
}

std::shared_ptr<AsyncLoop>& AsyncLoop::one() {
  static auto& loop = *new std::shared_ptr<AsyncLoop>;
  return loop;
}

std::shared_ptr<AsyncLoop> AsyncLoop::current() {
  static Mutex mutex;
  std::shared_ptr<AsyncLoop> loop;
  {
    const MutexLock lock(mutex);
    if (one() != nullptr && !one()->unusable()) return one();
    loop = one() = std::make_shared<AsyncLoop>();
  }
  // Others push meanwhile; the thread takes what it finds.
  loop->start();
  return loop;
}

void AsyncLoop::end() {
  const std::shared_ptr<AsyncLoop> loop = one();  // nobody makes another one any more
  if (loop == nullptr) return;
  const WithoutGil free;
  const auto give_up = std::chrono::steady_clock::now() + kEndFor;
  const MutexLock lock(loop->mutex_);
  loop->ended_ = true;
  eventfd_write(loop->wake_.get(), 1);
  while (!loop->asleep_ && loop->failed_.ok() && std::chrono::steady_clock::now() < give_up) {
    loop->fell_asleep_.wait_for(loop->mutex_, std::chrono::milliseconds(5));
  }
}

void AsyncLoop::sleep_if_ended() {
  {
    const MutexLock lock(mutex_);
    if (!ended_) return;
  }
  const WithoutGil free;
  {
    const MutexLock lock(mutex_);
    asleep_ = true;
    fell_asleep_.notify_all();
  }
  for (;;) pause();
}

bool AsyncLoop::here() { return is_loop; }

AsyncLoop::AsyncLoop() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

// From a thread of ours, where no signal's handler runs: what that raises must not count as the
// failure of the calls that happen to come first.
void AsyncLoop::start() {
  const auto told = std::make_shared<std::promise<Status>>();
  const Status begun =
      start_thread([self = shared_from_this(), told] { told->set_value(self->start_in_python()); });
  const Status why = begun.ok() ? told->get_future().get() : start_in_python();
  if (!why.ok()) refuse(why);
}

Status AsyncLoop::start_in_python() {
  const WithGil gil;
  const nb::object self = nb::cast(shared_from_this());
  const Ref made = Ref::steal(PyObject_CallOneArg(async_hooks().start.get(), self.ptr()));
  return made ? Status() : status_from_exception();
}

// Nobody will ever take what was pushed.
void AsyncLoop::refuse(const Status& why) {
  std::vector<AsyncCallPtr> calls;
  {
    const MutexLock lock(mutex_);
    failed_ = why;
    calls = std::exchange(begun_, {});
  }
  for (const AsyncCallPtr& call : calls) {
    call->fail(why);
    call->settle();
  }
}

bool AsyncLoop::unusable() {
  const std::int64_t since = unanswered_ns_;
  if (since != 0 && now_ns() - since > kStuckNs) return true;
  const MutexLock lock(mutex_);
  return !failed_.ok();
}

Status AsyncLoop::push(const AsyncCallPtr& call) {
  call->loop_ = weak_from_this();
  const MutexLock lock(mutex_);
  SW_RETURN_IF_ERROR(Status(failed_));
  begun_.push_back(call);
  eventfd_write(wake_.get(), 1);
  return {};
}

void AsyncLoop::cancel(const AsyncCallPtr& call) {
  const MutexLock lock(mutex_);
  cancelled_.push_back(call);
  if (unanswered_ns_ == 0) unanswered_ns_ = now_ns();
  eventfd_write(wake_.get(), 1);
}

AsyncLoop::Taken AsyncLoop::take() {
  sleep_if_ended();
  end_copy_of_worker();  // it would take the wake-up from the process that it is a copy of
  Taken taken;
  is_loop = true;
  {
    const MutexLock lock(mutex_);
    eventfd_t count = 0;
    eventfd_read(wake_.get(), &count);
    taken.begun = std::exchange(begun_, {});
    taken.cancelled = std::exchange(cancelled_, {});
    unanswered_ns_ = 0;
  }
  active_ += std::ssize(taken.begun);
  if (active_ > 0 && !working_) working_.emplace(Budget::process());
  return taken;
}

void AsyncLoop::settle(std::vector<AsyncCallPtr> calls) {
  active_ -= std::ssize(calls);
  const WithoutGil free;
  for (const AsyncCallPtr& call : calls) call->settle();
  if (active_ == 0) working_.reset();
}

std::int64_t AsyncLoop::cpu_share() {
  const std::int64_t now = thread_cpu_ns();
  return now - std::exchange(cpu_ns_, now);
}

void end_async_loop() { AsyncLoop::end(); }

void bind_async(nb::module_& m) {
  nb::class_<AsyncCall>(m, "AsyncCall", "One element on its way through an async function.")
      .def("start",
           [](AsyncCall& call) {
             Ref awaitable = call.start();
             if (!awaitable) throw nb::python_error();
             return nb::steal(awaitable.release());
           })
      .def("finish", [](AsyncCall& call, nb::handle result) { call.finish(result.ptr()); })
      .def("fail", [](AsyncCall& call, nb::handle error) { call.fail(error.ptr()); });
  nb::class_<AsyncLoop>(m, "AsyncLoop", "Where the event loop's thread finds its calls.")
      .def_prop_ro("wake", &AsyncLoop::wake)
      .def("take",
           [](AsyncLoop& loop) {
             AsyncLoop::Taken taken = loop.take();
             return nb::make_tuple(nb::cast(std::move(taken.begun)),
                                   nb::cast(std::move(taken.cancelled)));
           })
      .def("settle", &AsyncLoop::settle);
  m.def("stop_wanted", &stop_wanted,
        "Whether nobody wants the element that a generator is making on this thread.");
  m.def("set_async_hooks", [](nb::object start, nb::object is_async_function) {
    async_hooks() = {Ref::borrow(start.ptr()), Ref::borrow(is_async_function.ptr())};
  });
}

}  // namespace spillway::python
