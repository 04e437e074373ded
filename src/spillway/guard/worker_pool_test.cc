#include "spillway/guard/worker_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "spillway/guard/watch.h"
#include "spillway/memory/activity.h"

namespace spillway {
namespace {

// Processes that do nothing, at most so many at a time.
class Few final : public Spawner {
 public:
  explicit Few(int most) : most_(most) {}

  Result<Spawned> spawn(int /*shared_memory*/) override {
    ++asked;
    if (alive_ >= most_) return out_of_resource("no further worker process: as the test wants it");
    ++alive_;
    SW_ASSIGN(auto ends, Channel::pair());
    Spawned out;
    out.pid = fork();
    if (out.pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    out.pidfd = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, out.pid, 0)));
    out.channel = std::move(ends.first);
    return out;
  }
  End reap(pid_t pid) override {
    waitpid(pid, nullptr, 0);
    --alive_;
    return {SIGKILL, -1};
  }
  void keep_spare(bool wanted) override { spare = wanted; }
  std::size_t memory() override { return own; }

  std::size_t own = 0;
  std::atomic<bool> spare{false};
  std::atomic<int> asked{0};

 private:
  const int most_;
  std::atomic<int> alive_{0};
};

Result<WorkerPtr> take(WorkerPool& pool, WorkerPool::Which which = WorkerPool::Which::kAny) {
  return WorkerPool::Calling(pool).take({}, which);
}

constexpr std::size_t kMiB = std::size_t{1} << 20U;

// All that is free but so much.
Reservation all_but(Budget& budget, const AccountPtr& account, std::size_t free) {
  return account->try_reserve(budget.free_pool() - free).value();
}

TEST(WorkerPool, WithoutRoomNoneIsStartedAndItIsRefusedWithTheHolders) {
  Budget budget(64 * kMiB);
  const auto few = std::make_shared<Few>(2);
  WorkerPool pool(budget, few);
  const auto other = budget.open_account("other");
  const Reservation taken = all_but(budget, other, 2 * kMiB);
  const auto worker = take(pool);
  ASSERT_FALSE(worker.ok());
  EXPECT_EQ(worker.error().info().type, "BudgetError");
  EXPECT_NE(worker.error().message().find("other"), std::string::npos);
  EXPECT_EQ(few->asked, 0);
  EXPECT_LE(budget.ledger().peak, budget.limit());
}

TEST(WorkerPool, WithoutRoomACallWaitsForAnothersWorker) {
  Budget budget(64 * kMiB);
  WorkerPool pool(budget, std::make_shared<Few>(2));
  WorkerPool::Calling first(pool);
  WorkerPtr worker = first.take({}).value();
  const pid_t pid = worker->pid();
  pool.end_idle();
  const auto other = budget.open_account("other");
  const Reservation taken = all_but(budget, other, 2 * kMiB);
  std::atomic<bool> waits{false};
  std::thread second([&] {
    WorkerPool::Calling calling(pool);
    auto got = calling.take({}, WorkerPool::Which::kAny, [&waits] {
      waits = true;
      return false;
    });
    ASSERT_TRUE(got.ok()) << got.error().message();
    EXPECT_EQ(got.value()->pid(), pid);
  });
  while (!waits) std::this_thread::yield();
  pool.give_back(std::move(worker));
  second.join();
  EXPECT_LE(budget.ledger().peak, budget.limit());
}

TEST(WorkerPool, AGuaranteeKeepsRoomForOne) {
  Budget budget(64 * kMiB);
  const auto pool = std::make_shared<WorkerPool>(budget, std::make_shared<Few>(2));
  std::optional<WorkerPool::Guarantee> guarantee(pool);
  const auto other = budget.open_account("other");
  const Reservation taken = all_but(budget, other, 64 * 1024);  // for its Beat
  auto worker = take(*pool);
  ASSERT_TRUE(worker.ok()) << worker.error().message();
  EXPECT_LE(budget.ledger().peak, budget.limit());
  worker = WorkerPtr();
  guarantee.reset();
  const Reservation rest = all_but(budget, other, 0);
  EXPECT_FALSE(take(*pool).ok());
}

TEST(WorkerPool, WaitingForRoomEndsWhenItIsGivenUp) {
  Budget budget(64 * kMiB);
  WorkerPool pool(budget, std::make_shared<Few>(2));
  const auto other = budget.open_account("other");
  const Reservation taken = all_but(budget, other, 2 * kMiB);
  const Working somebody(budget);  // who may give bytes back: it is not refused
  std::atomic<int> asked{0};
  std::thread caller([&] {
    const auto worker = WorkerPool::Calling(pool).take({}, WorkerPool::Which::kAny,
                                                       [&asked] { return ++asked > 5; });
    ASSERT_FALSE(worker.ok());
    EXPECT_EQ(worker.error().code(), Code::kCancelled);
  });
  caller.join();
}

TEST(WorkerPool, ASpareOneIsChargedAndGoesUnderPressure) {
  Budget budget(std::size_t{64} << 20U);
  const auto few = std::make_shared<Few>(2);
  WorkerPool pool(budget, few);
  auto worker = take(pool).value();
  EXPECT_TRUE(few->spare);
  const std::size_t with_spare = pool.account()->held();
  EXPECT_GT(pool.end_idle(), 0U);
  EXPECT_FALSE(few->spare);
  EXPECT_LT(pool.account()->held(), with_spare);
  worker = nullptr;
  pool.end_idle();
  pool.memory()->drop_idle();
  EXPECT_EQ(budget.used(), 0U);
}

TEST(WorkerPool, WithoutRoomThereIsNoSpareOne) {
  Budget budget(std::size_t{64} << 20U);
  const auto few = std::make_shared<Few>(2);
  WorkerPool pool(budget, few);
  const auto other = budget.open_account("other");
  few->own = 16 * kMiB;
  const Reservation taken = all_but(budget, other, few->own + 10 * kMiB);
  auto worker = take(pool).value();
  EXPECT_FALSE(few->spare);
}

TEST(WorkerPool, WhereNoProcessIsToBeHadACallWaitsForAnother) {
  static std::atomic<int> reports{0};
  reports = 0;
  set_guard_report([](const std::string&) { ++reports; });
  Budget budget(std::size_t{64} << 20U);
  const auto few = std::make_shared<Few>(1);
  WorkerPool pool(budget, few);
  WorkerPool::Calling first(pool);
  WorkerPtr worker = first.take({}).value();
  const pid_t pid = worker->pid();
  std::thread second([&pool, pid] {
    WorkerPool::Calling calling(pool);
    auto got = calling.take({});
    ASSERT_TRUE(got.ok()) << got.error().message();
    EXPECT_EQ(got.value()->pid(), pid);
  });
  while (few->asked < 3) std::this_thread::yield();
  pool.give_back(std::move(worker));
  second.join();
  set_guard_report(nullptr);
  EXPECT_EQ(reports, 1);
}

TEST(WorkerPool, OneThatNobodyUsesMakesWayForAFreshOne) {
  Budget budget(std::size_t{64} << 20U);
  WorkerPool pool(budget, std::make_shared<Few>(1));
  WorkerPtr worker = take(pool).value();
  const pid_t pid = worker->pid();
  pool.give_back(std::move(worker));
  auto fresh = take(pool, WorkerPool::Which::kFresh);
  ASSERT_TRUE(fresh.ok()) << fresh.error().message();
  EXPECT_NE(fresh.value()->pid(), pid);
}

// What becomes of `body` in a forked child: its exit code.
template <class Body>
int in_a_child(const Body& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(WorkerPool, AForkedChildHasNoneAndEndsNone) {
  Budget budget(std::size_t{64} << 20U);
  const auto few = std::make_shared<Few>(2);
  auto pool = std::make_unique<WorkerPool>(budget, few);
  WorkerPtr worker = take(*pool).value();
  const pid_t pid = worker->pid();
  pool->give_back(std::move(worker));
  EXPECT_EQ(in_a_child([&] {
              const bool refused = take(*pool).error().code() == Code::kFailedPrecondition;
              pool->end_idle();
              pool = nullptr;
              return refused ? 0 : 1;
            }),
            0);
  worker = take(*pool).value();
  EXPECT_EQ(worker->pid(), pid);
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0);
}

TEST(WorkerPool, WithNoProcessAtAllItIsAnError) {
  Budget budget(std::size_t{64} << 20U);
  WorkerPool pool(budget, std::make_shared<Few>(0));
  const auto worker = take(pool);
  ASSERT_FALSE(worker.ok());
  EXPECT_EQ(worker.error().kind(), ErrorKind::kResource);
}

}  // namespace
}  // namespace spillway
