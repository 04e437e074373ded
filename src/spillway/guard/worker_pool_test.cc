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

  std::atomic<bool> spare{false};
  std::atomic<int> asked{0};

 private:
  const int most_;
  std::atomic<int> alive_{0};
};

TEST(WorkerPool, ASpareOneIsChargedAndGoesUnderPressure) {
  Budget budget(std::size_t{64} << 20U);
  const auto few = std::make_shared<Few>(2);
  WorkerPool pool(budget, few);
  auto worker = pool.take({}).value();
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
  auto taken = other->try_reserve(std::size_t{58} << 20U);
  ASSERT_TRUE(taken.has_value());
  auto worker = pool.take({}).value();
  EXPECT_FALSE(few->spare);
}

TEST(WorkerPool, WhereNoProcessIsToBeHadACallWaitsForAnother) {
  static std::atomic<int> reports{0};
  reports = 0;
  set_guard_report([](const std::string&) { ++reports; });
  Budget budget(std::size_t{64} << 20U);
  const auto few = std::make_shared<Few>(1);
  WorkerPool pool(budget, few);
  const WorkerPool::Calling first(pool);
  WorkerPtr worker = pool.take({}).value();
  const pid_t pid = worker->pid();
  std::thread second([&pool, pid] {
    const WorkerPool::Calling calling(pool);
    auto got = pool.take({});
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
  WorkerPtr worker = pool.take({}).value();
  const pid_t pid = worker->pid();
  pool.give_back(std::move(worker));
  auto fresh = pool.take({}, WorkerPool::Which::kFresh);
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
  WorkerPtr worker = pool->take({}).value();
  const pid_t pid = worker->pid();
  pool->give_back(std::move(worker));
  EXPECT_EQ(in_a_child([&] {
              const bool refused = pool->take({}).error().code() == Code::kFailedPrecondition;
              pool->end_idle();
              pool = nullptr;
              return refused ? 0 : 1;
            }),
            0);
  worker = pool->take({}).value();
  EXPECT_EQ(worker->pid(), pid);
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0);
}

TEST(WorkerPool, WithNoProcessAtAllItIsAnError) {
  Budget budget(std::size_t{64} << 20U);
  WorkerPool pool(budget, std::make_shared<Few>(0));
  const WorkerPool::Calling calling(pool);
  const auto worker = pool.take({});
  ASSERT_FALSE(worker.ok());
  EXPECT_EQ(worker.error().kind(), ErrorKind::kResource);
}

}  // namespace
}  // namespace spillway
