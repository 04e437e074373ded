#include "spillway/pipeline/awaited_function.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/memory/activity.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

// A function whose calls are made on one thread, the newest first, from the moment on that
// `together` of them wait; cancelled ones at once. The thread outlives the function: the last call
// may own that.
class OnALoop final : public Function, public AwaitedFunction {
 public:
  explicit OnALoop(FunctionPtr inner, std::size_t together = 1)
      : inner_(std::move(inner)), loop_(std::make_shared<Loop>(together)) {
    std::thread([loop = loop_] { loop->run(); }).detach();
  }
  ~OnALoop() override {
    const MutexLock lock(loop_->mutex);
    loop_->closed = true;
    loop_->changed.notify_all();
  }

  Outcome call(const Chunk& rows, const CallContext& context) override {
    return inner_->call(rows, context);
  }
  StructurePtr output() const override { return inner_->output(); }
  std::string code() const override { return inner_->code(); }
  std::string name() const override { return inner_->name(); }
  bool holds_interpreter() const override { return true; }

  Begun begin(Chunk row, const CallContext& context, Done done) override {
    auto call = std::make_shared<Call>();
    call->row = std::move(row);
    call->account = context.account;
    call->index = context.first_index;
    call->epoch = context.epoch;
    call->inner = inner_;
    call->done = std::move(done);
    const MutexLock lock(loop_->mutex);
    ++begun;
    loop_->calls.push_back(call);
    loop_->changed.notify_all();
    return call;
  }
  void cancel(const Begun& begun) override {
    const MutexLock lock(loop_->mutex);
    std::static_pointer_cast<Call>(begun)->cancelled = true;
    ++cancelled_calls;
    loop_->changed.notify_all();
  }

  std::atomic<int> begun{0};
  std::atomic<int> cancelled_calls{0};

 private:
  struct Call {
    Chunk row;
    AccountPtr account;
    std::int64_t index = 0;
    std::int64_t epoch = 0;
    FunctionPtr inner;
    Done done;
    bool cancelled = false;  // under the loop's mutex
  };
  struct Loop {
    explicit Loop(std::size_t least) : together(least) {}

    std::shared_ptr<Call> next() {
      const MutexLock lock(mutex);
      for (;;) {
        for (auto it = calls.rbegin(); it != calls.rend(); ++it) {
          begun = begun || calls.size() >= together;
          if (!begun && !(*it)->cancelled) continue;
          std::shared_ptr<Call> call = *it;
          calls.erase(std::next(it).base());
          return call;
        }
        if (closed) return nullptr;
        changed.wait(mutex);
      }
    }
    void run() {
      while (const auto call = next()) {
        const Working working(Budget::process());
        Outcome outcome;
        if (call->cancelled) {
          outcome.error = cancelled();
        } else {
          outcome = call->inner->call(call->row, {call->account, call->index, call->epoch});
        }
        std::exchange(call->done, nullptr)(std::move(outcome));
      }
    }

    const std::size_t together;
    Mutex mutex;
    CondVar changed;
    std::vector<std::shared_ptr<Call>> calls SW_GUARDED_BY(mutex);
    bool begun SW_GUARDED_BY(mutex) = false;
    bool closed SW_GUARDED_BY(mutex) = false;
  };

  const FunctionPtr inner_;
  const std::shared_ptr<Loop> loop_;
};

FunctionPtr twice() {
  return scalar_fn([](std::int64_t x) -> Result<std::int64_t> { return x * 2; });
}

NodePtr mapped(const FunctionPtr& function, std::int64_t calls, const NodePtr& input) {
  return node("map", {{"map_func", function}, {"num_parallel_calls", calls}}, {input});
}

TEST(AwaitedFunction, KeepsOrderWhateverEndsFirst) {
  for (const std::int64_t calls : {2, 7, -1}) {
    check_operator(
        {.build = [=] { return mapped(std::make_shared<OnALoop>(twice()), calls, range(5)); },
         .expect = {"0", "2", "4", "6", "8"}});
  }
}

TEST(AwaitedFunction, HandsOutAnErrorInItsPlaceAndGoesOn) {
  const auto fails = [] {
    return scalar_fn([](std::int64_t x) -> Result<std::int64_t> {
      if (x == 1) return bad_data(Code::kDataLoss, "bad element");
      return x;
    });
  };
  check_operator({.build = [=] { return mapped(std::make_shared<OnALoop>(fails()), 3, range(4)); },
                  .expect = {"0", "!DATA_LOSS", "2", "3"}});
}

TEST(AwaitedFunction, HasAsManyCallsUnderWayAsAskedFor) {
  // None ends before all eight were begun.
  const auto function = std::make_shared<OnALoop>(twice(), 8);
  const Opened opened = open(mapped(function, 8, range(100)));
  const Next first = opened.it->next(Demand::one());
  ASSERT_TRUE(first.ok());
  EXPECT_GE(function->begun, 8);
  EXPECT_LE(function->begun, 9);
}

TEST(AwaitedFunction, IsCalledAgainAsThePolicySays) {
  std::atomic<int> tries{0};
  const FunctionPtr flaky = scalar_fn([&](std::int64_t x) -> Result<std::int64_t> {
    if (x == 2 && ++tries < 3) return bad_data(Code::kUnavailable, "not yet");
    return x;
  });
  const NodePtr retried = node("map",
                               {{"map_func", FunctionPtr(std::make_shared<OnALoop>(flaky))},
                                {"num_parallel_calls", std::int64_t{4}},
                                {"on_error", std::string("retry")},
                                {"retries", std::int64_t{3}},
                                {"backoff", 0.0}},
                               {range(5)});
  EXPECT_EQ(elements(retried), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(tries, 3);
}

TEST(AwaitedFunction, CallsNobodyWaitsForAreCancelled) {
  const auto function = std::make_shared<OnALoop>(twice(), 1000);  // none ever ends by itself
  {
    const Opened opened = open(mapped(function, 4, range(100)));
    std::thread consumer([&] { EXPECT_FALSE(opened.it->next(Demand::one()).ok()); });
    while (function->begun < 4) std::this_thread::yield();
    opened.run->request_stop();
    consumer.join();
  }
  EXPECT_EQ(function->cancelled_calls, function->begun);
  EXPECT_EQ(function->begun, 4);
}

}  // namespace
}  // namespace spillway::testing
