#include "spillway/pipeline/guarded_function.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/test_point.h"
#include "spillway/pipeline/worker_loop.h"
#include "spillway/testing/pipelines.h"

namespace spillway {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::i64;
using testing::i64_spec;
using testing::Values;

// Counters that children share with the test.
struct Shared {
  std::atomic<int> calls{0};
  std::atomic<int> deaths{0};
  std::atomic<bool> open{false};  // lets "gate" pass
};
Shared& shared() {
  static auto* const kPlace =
      new (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;
  return *kPlace;
}

bool first_time() { return shared().deaths.fetch_add(1) == 0; }

// Hands the results of another function over one by one, as the front's own functions do.
class OneByOne final : public Function, public SinkingFunction {
 public:
  explicit OneByOne(FunctionPtr inner) : inner_(std::move(inner)) {}
  Outcome call(const Chunk& rows, const CallContext& context) override {
    return inner_->call(rows, context);
  }
  Outcome call_into(const Chunk& rows, const CallContext& context, RowSink& sink) override {
    Outcome outcome;
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      if (i > 0 && now_ns() >= context.deadline_ns) break;
      if (context.at != nullptr) *context.at = i;
      outcome = inner_->call(rows.slice(i, i + 1), {context.account, context.first_index + i, 0});
      if (!outcome.error.ok()) break;
      if (!sink.add(inner_->output(), outcome.out.row(0).values)) break;
      outcome.out = Chunk();
    }
    return outcome;
  }
  StructurePtr output() const override { return inner_->output(); }
  std::string code() const override { return ""; }
  std::string name() const override { return inner_->name(); }
  bool holds_interpreter() const override { return true; }

 private:
  const FunctionPtr inner_;
};

StructurePtr vectors() { return Structure::tensor(DType::kInt64, Shape({kUnknownDim})); }

// Vectors of `items` items.
FunctionPtr wide(std::int64_t items) {
  static Budget budget(std::size_t{256} << 20U);
  static const AccountPtr kAccount = budget.open_account("wide");
  return testing::fn(vectors(), [items](const Values& in) -> Result<Values> {
    const std::int64_t x = *in[0].as<std::int64_t>();
    SW_ASSIGN(Tensor out, make_tensor(kAccount, DType::kInt64, Shape({items})));
    std::fill_n(reinterpret_cast<std::int64_t*>(out.mutable_data()), items, x * 10);
    return Values{std::move(out)};
  });
}

// Past a sanitizer's handler, which would make an exit of it.
void segfault() {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

// What workers can do, by the name that travels: "kind:element", and with "one by one " in front
// of it the same in a stream.
FunctionPtr load_by_name(std::string_view name) {
  constexpr std::string_view kOneByOne = "one by one ";
  if (name.starts_with(kOneByOne)) {
    return std::make_shared<OneByOne>(load_by_name(name.substr(kOneByOne.size())));
  }
  const std::size_t colon = name.find(':');
  const std::string kind(name.substr(0, colon));
  const std::int64_t at = std::stoll(std::string(name.substr(colon + 1)));
  if (kind == "wide") return wide(at);
  return testing::fn(i64_spec(), [kind, at](const Values& in) -> Result<Values> {
    ++shared().calls;
    if (kind == "slow") usleep(100);
    const std::int64_t x = *in[0].as<std::int64_t>();
    if (kind == "gate") {
      if (x > at - 10) usleep(6'000);  // longer than a call goes on
      while (x == at && !shared().open) usleep(1'000);
    }
    if (x == at) {
      if (kind == "segv") segfault();
      if (kind == "kill once" && first_time()) raise(SIGKILL);
      if (kind == "segv once" && first_time()) segfault();
      if (kind == "exit") _exit(3);
      if (kind == "hang") pause();
      if (kind == "fail") return bad_data(Code::kDataLoss, "element ", x, " is bad");
    }
    return Values{i64(x * 10)};
  });
}

// Workers forked from the test program itself; `point` kills the first that comes there.
class Forks final : public Spawner {
 public:
  explicit Forks(std::string point = "") : point_(std::move(point)) {}

  Result<Spawned> spawn(int memory) override {
    SW_ASSIGN(auto ends, Channel::pair());
    const pid_t pid = fork();
    if (pid == 0) live(std::move(ends.second), memory);
    Spawned out;
    out.pid = pid;
    out.pidfd = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    out.channel = std::move(ends.first);
    {
      const MutexLock lock(mutex_);
      pids_.push_back(pid);
    }
    return out;
  }
  End reap(pid_t pid) override {
    {
      const MutexLock lock(mutex_);
      std::erase(pids_, pid);
    }
    int status = 0;
    End end;
    if (waitpid(pid, &status, 0) != pid) return end;
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    return end;
  }
  // Kills one that was not reaped yet.
  bool kill_one(std::size_t which) {
    const MutexLock lock(mutex_);
    if (pids_.empty()) return false;
    return ::kill(pids_[which % pids_.size()], SIGKILL) == 0;
  }

 private:
  [[noreturn]] void live(Channel channel, int memory) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGUSR1, SIG_IGN);  // asks for a stack, which nobody writes here
    Budget budget(std::size_t{256} << 20U);
    const ScopedTestPoint armed(point_, [] {
      if (first_time()) raise(SIGKILL);
    });
    WorkerFront front;
    front.load = [](const Parcel& sent, const StructurePtr&,
                    const std::string&) -> Result<FunctionPtr> { return load_by_name(sent.text); };
    WorkerLoop loop(std::move(channel), SharedMemory::open(dup(memory)).value(), budget,
                    std::move(front));
    loop.run();
    _exit(0);
  }

  const std::string point_;
  Mutex mutex_;
  std::vector<pid_t> pids_ SW_GUARDED_BY(mutex_);
};

class Guarded : public ::testing::Test {
 protected:
  void SetUp() override {
    i64(0);  // makes what a child forked meanwhile by another thread would wait for
    shared().calls = 0;
    shared().deaths = 0;
    shared().open = false;
  }
  static Chunk numbers(std::int64_t first, std::int64_t count) {
    std::vector<Row> rows;
    rows.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) rows.push_back(Row{{i64(first + i)}, {}});
    return Chunk::from_rows(i64_spec(), std::move(rows));
  }
  std::shared_ptr<GuardedFunction> function(const std::string& travels, GuardRules rules = {},
                                            const std::string& point = "") {
    forks = std::make_shared<Forks>(point);
    pool = std::make_shared<WorkerPool>(budget, forks);
    const StructurePtr declared = travels.find("wide:") == travels.npos ? i64_spec() : vectors();
    return std::make_shared<GuardedFunction>(testing::fn(declared, nullptr), Cargo::small(travels),
                                             pool, rules);
  }
  // Calls until every row has a result or an error; the values, errors as -1.
  std::vector<std::int64_t> call_all(GuardedFunction& guarded, std::int64_t count) {
    std::vector<std::int64_t> out;
    while (static_cast<std::int64_t>(out.size()) < count) {
      const auto done = static_cast<std::int64_t>(out.size());
      const CallContext context{account, done, 0};
      const auto outcome = guarded.call(numbers(done, count - done), context);
      for (std::int64_t i = 0; i < outcome.out.rows(); ++i) {
        out.push_back(*outcome.out.row(i).values[0].as<std::int64_t>());
      }
      if (!outcome.error.ok()) {
        errors.push_back(outcome.error);
        out.push_back(-1);
      }
    }
    return out;
  }
  // Calls with rows `done` to 4 until there are results up to row `end`: how far it came.
  std::int64_t call_before(GuardedFunction& guarded, std::int64_t done, std::int64_t end) {
    while (done < end) {
      const auto some = guarded.call(numbers(done, 5 - done), {account, done, 0});
      if (!some.error.ok() || some.out.rows() == 0) break;
      done += some.out.rows();
    }
    return done;
  }
  static std::vector<std::int64_t> tenfold(std::int64_t count, std::int64_t bad = -1) {
    std::vector<std::int64_t> out;
    out.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) out.push_back(i == bad ? -1 : i * 10);
    return out;
  }

  Budget budget{std::size_t{256} << 20U};
  AccountPtr account = budget.open_account("stage");
  std::shared_ptr<Forks> forks;
  std::shared_ptr<WorkerPool> pool;
  std::vector<Status> errors;
};

TEST_F(Guarded, RowsComeBackInOrderFromOneWorker) {
  EXPECT_EQ(call_all(*function("plain:-1"), 1000), tenfold(1000));
  EXPECT_EQ(pool->started(), 1);
  EXPECT_EQ(shared().calls, 1000);
}

TEST_F(Guarded, AnErrorOfTheFunctionIsTheElementsError) {
  EXPECT_EQ(call_all(*function("fail:7"), 20), tenfold(20, 7));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code(), Code::kDataLoss);
  EXPECT_THAT(std::string(errors[0].message()), HasSubstr("element 7 is bad"));
  EXPECT_EQ(pool->started(), 1);
}

// A worker answers after 5 ms with what it has: on a busy machine it may not have come to the
// element that crashes. Then the scene is set again.
TEST_F(Guarded, AnElementThatIsToBlameIsNotCalledInTheCompanyOfThoseBeforeIt) {
  GuardRules rules;
  rules.restarts = 0;
  std::shared_ptr<GuardedFunction> guarded;
  bool crashed = false;
  for (int tries = 0; tries < 100 && !crashed; ++tries) {
    SetUp();
    guarded = function("one by one segv once:3", rules);
    // Its time is over when the worker is dead: of those before it, the next answers for one.
    CallContext context{account, 0, 0};
    context.deadline_ns = now_ns() + 50'000'000;
    const ScopedTestPoint late("a worker is dead", [&context] {
      while (now_ns() < context.deadline_ns) std::this_thread::yield();
    });
    const auto first = guarded->call(numbers(0, 5), context);
    crashed = shared().deaths == 1;
    ASSERT_TRUE(first.error.ok());
    if (crashed) {
      ASSERT_EQ(first.out.rows(), 1);
    }
  }
  ASSERT_TRUE(crashed);
  EXPECT_EQ(call_before(*guarded, 1, 3), 3);
  const auto third = guarded->call(numbers(3, 2), {account, 3, 0});
  EXPECT_EQ(third.error.info().type, "WorkerDied");
  EXPECT_EQ(call_all(*guarded, 5), tenfold(5));
}

TEST_F(Guarded, WhatIsHeldAgainstAnElementIsNothingToAnotherPass) {
  GuardRules rules;
  rules.restarts = 0;
  std::shared_ptr<GuardedFunction> guarded;
  for (int tries = 0; tries < 100 && shared().deaths == 0; ++tries) {
    SetUp();
    guarded = function("one by one segv once:3", rules);
    ASSERT_EQ(call_before(*guarded, 0, 3), 3);
  }
  const AccountPtr other = budget.open_account("stage");
  const auto there = guarded->call(numbers(3, 2), {other, 3, 0});
  EXPECT_TRUE(there.error.ok());
  EXPECT_GE(there.out.rows(), 1);
  const auto here = guarded->call(numbers(3, 2), {account, 3, 0});
  EXPECT_EQ(here.error.info().type, "WorkerDied");
}

TEST_F(Guarded, AnElementThatCrashesIsTriedAloneThenFailsAloneAndIsNamed) {
  EXPECT_EQ(call_all(*function("segv:7"), 20), tenfold(20, 7));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].info().type, "WorkerDied");
  EXPECT_EQ(errors[0].code(), Code::kUnavailable);
  EXPECT_EQ(errors[0].kind(), ErrorKind::kData);
  EXPECT_THAT(std::string(errors[0].message()), HasSubstr("crashed (SIGSEGV"));
  EXPECT_THAT(std::string(errors[0].message()),
              HasSubstr("attempt 2; the worker before it died there too"));
}

TEST_F(Guarded, ACrashThatDoesNotComeBackCostsNothing) {
  EXPECT_EQ(call_all(*function("segv once:7"), 20), tenfold(20));
  EXPECT_TRUE(errors.empty());
}

TEST_F(Guarded, SomebodyElsesKillCostsNothing) {
  for (const std::string kind : {"kill once:7", "kill once:0"}) {
    SetUp();
    EXPECT_EQ(call_all(*function(kind, {.restarts = 0}), 20), tenfold(20)) << kind;
    EXPECT_TRUE(errors.empty()) << kind;
    EXPECT_GE(shared().deaths, 1) << kind;
  }
}

TEST_F(Guarded, WithoutRestartsTheFirstCrashCounts) {
  EXPECT_EQ(call_all(*function("segv once:0", {.restarts = 0}), 3), tenfold(3, 0));
}

TEST_F(Guarded, AFunctionThatEndsItsProcessIsNamed) {
  EXPECT_EQ(call_all(*function("exit:2"), 5), tenfold(5, 2));
  EXPECT_THAT(std::string(errors.at(0).message()), HasSubstr("exit code 3"));
}

TEST_F(Guarded, AnElementThatHangsIsEndedAtItsDeadline) {
  EXPECT_EQ(call_all(*function("hang:3", {.timeout_s = 1, .restarts = 0}), 6), tenfold(6, 3));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].info().type, "StallError");
  EXPECT_EQ(errors[0].code(), Code::kDeadlineExceeded);
}

TEST_F(Guarded, AStallIsReportedWhileItLasts) {
  static std::atomic<int> reports{0};
  static std::string text;
  reports = 0;
  set_guard_report([](const std::string& told) {
    if (reports++ == 0) text = told;
  });
  call_all(*function("hang:1", {.timeout_s = 2, .restarts = 0, .report_after_s = 0.1}), 3);
  set_guard_report(nullptr);
  EXPECT_GE(reports, 2);
  EXPECT_THAT(text, HasSubstr("has worked on element 1"));
}

TEST_F(Guarded, AStoppedRunDoesNotWait) {
  const auto guarded = function("hang:0");
  std::atomic<bool> stop{false};
  CallContext context{account, 0, 0};
  context.stop = &stop;
  std::thread stopper([&stop] {
    while (shared().calls == 0) std::this_thread::yield();
    stop = true;
  });
  const auto outcome = guarded->call(numbers(0, 1), context);
  stopper.join();
  EXPECT_EQ(outcome.error.code(), Code::kCancelled);
}

// A worker dies once at every step of the protocol: nothing is lost and nothing comes twice.
TEST_F(Guarded, ADeathAtAnyStepLosesNothing) {
  for (const std::string point : {"worker has a call", "worker has results",
                                  "worker writes results", "worker has answered"}) {
    SetUp();
    EXPECT_EQ(call_all(*function("plain:-1", {}, point), 50), tenfold(50)) << point;
    EXPECT_TRUE(errors.empty()) << point;
#ifdef SW_TEST_POINTS
    // The last step is after the answer: the worker may still be on its way there.
    for (int i = 0; i < 5000 && shared().deaths == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_GE(shared().deaths, 1) << point;
#endif
  }
}

TEST_F(Guarded, KillsAtRandomLoseNothing) {
  const auto guarded = function("slow:-1");
  std::atomic<bool> done{false};
  std::atomic<int> kills{0};
  std::thread killer([&] {
    // After some calls, not some time: starting a worker may take longer than any time.
    for (int calls = 100; !done; usleep(500)) {
      if (shared().calls < calls) continue;
      if (forks->kill_one(static_cast<std::size_t>(calls))) ++kills;
      calls = shared().calls + 100;
    }
  });
  const auto got = call_all(*guarded, 1'000);
  done = true;
  killer.join();
  EXPECT_EQ(got, tenfold(1'000));
  EXPECT_TRUE(errors.empty());
  EXPECT_GT(kills, 2);
}

TEST_F(Guarded, WorkersOfOneKindAreNotTakenForAnother) {
  const auto plain = function("plain:-1");
  GuardRules limited;
  limited.kind.memory_limit = std::size_t{1} << 30U;
  GuardedFunction other(testing::fn(i64_spec(), nullptr), Cargo::small("plain:-1"), pool, limited);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(call_all(*plain, 10), tenfold(10));
    EXPECT_EQ(call_all(other, 10), tenfold(10));
  }
  EXPECT_EQ(pool->started(), 2);
  EXPECT_EQ(pool->idle(), 2U);
}

TEST_F(Guarded, ADeathTellsElementStageAndWhatWasRunAgain) {
  call_all(*function("segv:7"), 20);
  ASSERT_EQ(errors.size(), 1U);
  const std::string text(errors[0].message());
  EXPECT_THAT(text, HasSubstr("at element 7 of stage ("));
  EXPECT_THAT(text, HasSubstr("attempt 2"));
  // As many as a worker does in the time of a call: fewer on a slow machine.
  EXPECT_THAT(text,
              ContainsRegex("The [1-7] before it that were lost with a worker were run again."));
  EXPECT_EQ(errors[0].info().attempts, 2);
}

// The same for functions that hand rows over as they are made.
TEST_F(Guarded, RowsInAStreamAreGuardedAlike) {
  struct Case {
    std::string travels;
    std::int64_t bad;
  };
  for (const Case& one : {Case{"plain:-1", -1}, Case{"fail:7", 7}, Case{"segv:7", 7},
                          Case{"segv once:7", -1}, Case{"kill once:7", -1}, Case{"exit:0", 0}}) {
    SetUp();
    errors.clear();
    const auto guarded = function("one by one " + one.travels);
    EXPECT_EQ(call_all(*guarded, 20), tenfold(20, one.bad)) << one.travels;
    EXPECT_EQ(errors.size(), one.bad < 0 ? 0U : 1U) << one.travels;
  }
  for (const std::string point : {"worker has a call", "worker has results",
                                  "worker writes results", "worker has answered"}) {
    SetUp();
    errors.clear();
    EXPECT_EQ(call_all(*function("one by one plain:-1", {}, point), 50), tenfold(50)) << point;
    EXPECT_TRUE(errors.empty()) << point;
  }
}

// A worker leaves what has no place in its room: the first row that has none still arrives.
TEST_F(Guarded, RowsOfAnySizeArriveInTheRoomsTheyNeed) {
  for (const std::string how : {"", "one by one "}) {
    const auto guarded = function(how + "wide:20000");
    EXPECT_EQ(call_all(*guarded, 100), tenfold(100)) << how;
    EXPECT_LE(static_cast<std::size_t>(guarded->rows_together()),
              4 * kMiB / (20'000 * sizeof(std::int64_t)))
        << how;
    EXPECT_EQ(account->held(), 0U);
  }
}

TEST_F(Guarded, RowsTravelTogetherOnlyAsFarAsTheyAreQuick) {
  const auto guarded = function("one by one plain:-1");
  EXPECT_EQ(guarded->rows_together(), 1);
  call_all(*guarded, 1);  // brings the function along: says nothing
  EXPECT_EQ(guarded->rows_together(), 1);
  call_all(*guarded, 3);
  EXPECT_LE(guarded->rows_together(), 6);
}

// Rows that a worker has answered with are handed on while the rest of their call is awaited.
TEST_F(Guarded, FinishedRowsAreNotWithheldBehindASlowOne) {
  constexpr std::int64_t kGate = 1000;
  const auto guarded = function("one by one gate:1000", {.timeout_s = 60, .most = 2});
  std::int64_t seen = 0;
  {
    const auto mapped = testing::node("map",
                                      {{"map_func", std::static_pointer_cast<Function>(guarded)},
                                       {"num_parallel_calls", Value(std::int64_t{2})}},
                                      {testing::range(kGate + 10)});
    const testing::Opened opened = testing::open(mapped, budget);
    for (;;) {
      const Next next = opened.it->next(Demand().with_rows(64));
      ASSERT_TRUE(next.ok()) << next.error().message();
      if (!next.value()) break;
      for (std::int64_t i = 0; i < next.value()->rows(); ++i, ++seen) {
        ASSERT_EQ(*next.value()->row(i).values[0].as<std::int64_t>(), seen * 10);
      }
      // The row at the gate waits for those a few before it to be here.
      if (seen >= kGate - 4) shared().open = true;
    }
  }
  EXPECT_EQ(seen, kGate + 10);
  EXPECT_LE(pool->started(), 2);  // none was ended at its deadline
  // The threads that called let go of the budget before it goes.
  while (guarded.use_count() > 1) std::this_thread::yield();
}

TEST_F(Guarded, NothingIsHeldWhenAllIsDone) {
  {
    const auto guarded = function("segv:7");
    call_all(*guarded, 20);
    EXPECT_EQ(account->held(), 0U);
    pool->end_idle();
  }
  pool->memory()->drop_idle();
  EXPECT_EQ(pool->account()->held(), 0U);
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace spillway
