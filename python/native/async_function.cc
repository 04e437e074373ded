#include "async_function.h"

#include <chrono>
#include <utility>

#include "async_loop.h"
#include "interrupts.h"
#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"

namespace spillway::python {
namespace {

using std::chrono::milliseconds;
constexpr auto kCancelFor = milliseconds(150);

// Where a call's outcome is waited for.
struct Answer {
  Mutex mutex;
  CondVar arrived;
  std::optional<Function::Outcome> outcome SW_GUARDED_BY(mutex);
};

class AsyncFunction final : public PyFunction,
                            public AwaitedFunction,
                            public std::enable_shared_from_this<AsyncFunction> {
 public:
  using PyFunction::PyFunction;

  Begun begin(Chunk row, const CallContext& context, Done done) override {
    auto call = std::make_shared<AsyncCall>(shared_from_this(), std::move(row), context.account,
                                            std::move(done));
    if (Status failed = AsyncLoop::current()->push(call); !failed.ok()) {
      call->fail(std::move(failed));
      call->settle();
    }
    return call;
  }

  void cancel(const Begun& begun) override {
    const auto call = std::static_pointer_cast<AsyncCall>(begun);
    if (call == nullptr) return;
    if (const auto loop = call->loop()) loop->cancel(call);
  }

  Outcome call(const Chunk& rows, const CallContext& context) override {
    return await_all(rows, context, nullptr);
  }
  Outcome call_into(const Chunk& rows, const CallContext& context, RowSink& sink) override {
    return await_all(rows, context, &sink);
  }

 private:
  Outcome await_all(const Chunk& rows, const CallContext& context, RowSink* sink) {
    Outcome outcome;
    std::vector<Row> results;
    StructurePtr structure;
    std::size_t bytes = 0;
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      if (i > 0 && (bytes >= context.bytes || now_ns() >= context.deadline_ns)) break;
      if (context.at != nullptr) *context.at = i;
      Outcome one = wait_for(rows.slice(i, i + 1), context);
      outcome.cpu_ns += one.cpu_ns;
      if (!one.error.ok()) {
        outcome.error = std::move(one.error);
        break;
      }
      structure = one.out.structure();
      bytes += one.out.footprint();
      Row row = one.out.row(0);
      if (sink != nullptr && sink->add(structure, row.values)) continue;
      results.push_back(std::move(row));
      if (sink != nullptr) break;
    }
    if (!results.empty()) outcome.out = Chunk::from_rows(structure, std::move(results));
    return outcome;
  }

  // Without the GIL; nobody on the loop's own thread gets here (refused_on_loop).
  Outcome wait_for(Chunk row, const CallContext& context) {
    const auto answer = std::make_shared<Answer>();
    const Begun begun = begin(std::move(row), context, [answer](Outcome outcome) {
      const MutexLock lock(answer->mutex);
      answer->outcome = std::move(outcome);
      answer->arrived.notify_all();
    });
    const Parked parked(Budget::process());
    auto give_up = std::chrono::steady_clock::time_point::max();
    bool unwanted = false;
    const MutexLock lock(answer->mutex);
    while (!answer->outcome && std::chrono::steady_clock::now() < give_up) {
      if (!unwanted && ((context.stop != nullptr && *context.stop) || interrupted())) {
        // Its `finally` blocks have a moment to run.
        unwanted = true;
        give_up = std::chrono::steady_clock::now() + kCancelFor;
        cancel(begun);
      }
      answer->arrived.wait_for(answer->mutex, milliseconds(unwanted ? 5 : 20));
    }
    Outcome outcome;
    if (unwanted) {
      outcome.error = cancelled();
    } else {
      outcome = std::move(*answer->outcome);
    }
    return outcome;
  }
};

}  // namespace

bool is_async(PyObject* callable) {
  if (!async_hooks().is_async) return false;
  const Ref answer = Ref::steal(PyObject_CallOneArg(async_hooks().is_async.get(), callable));
  forget_exception();
  return answer && answer.get() == Py_True;
}

std::shared_ptr<PyFunction> make_async_function(Ref callable, StructurePtr output, std::string code,
                                                std::string name, bool numpy_arguments,
                                                std::string why) {
  return std::make_shared<AsyncFunction>(std::move(callable), std::move(output), std::move(code),
                                         std::move(name), numpy_arguments, std::move(why));
}

bool refused_on_loop() {
  if (!AsyncLoop::here()) return false;
  PyErr_SetString(PyExc_RuntimeError,
                  "a dataset cannot be iterated inside an async function: the event loop that all "
                  "async functions share would wait for itself; write "
                  "`await asyncio.to_thread(list, dataset)`");
  return true;
}

}  // namespace spillway::python
