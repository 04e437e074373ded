#include "spillway/guard/worker_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "spillway/guard/stack_dump.h"
#include "spillway/guard/worker_pool.h"

namespace spillway {
namespace {

std::array<int, 2> stacks{};
std::array<int, 2> gate{};

void put(std::string_view text) { ASSERT_GT(write(stacks[1], text.data(), text.size()), 0); }

// Writes its stacks in two pieces, and between them waits for the gate, as on a busy machine.
void dump_slowly(int /*number*/) {
  put("Thread 0x1 (most recent call first):\n");
  char byte = 0;
  ASSERT_EQ(read(gate[0], &byte, 1), 1);
  put("  File \"a.py\", line 5 in hangs\n");
}

void dump_at_once(int /*number*/) { put("  File \"a.py\", line 5 in hangs\n"); }

// Starts processes whose stacks are written by a handler, with the mark of their end or without.
class Dumping final : public Spawner {
 public:
  Dumping(void (*dump)(int), bool marks, bool told) : dump_(dump), marks_(marks), told_(told) {}

  Result<Spawned> spawn(int /*shared_memory*/) override {
    SW_ASSIGN(auto ends, Channel::pair());
    if (pipe(stacks.data()) != 0 || pipe(gate.data()) != 0) return out_of_resource("no pipe");
    std::array<int, 2> ready{};
    if (pipe(ready.data()) != 0) return out_of_resource("no pipe");
    Spawned out;
    out.pid = fork();
    if (out.pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      signal(SIGUSR1, dump_);
      if (marks_) mark_end_of_stacks(SIGUSR1, stacks[1]);
      if (write(ready[1], "", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte = 0;
    if (read(ready[0], &byte, 1) != 1) return out_of_resource("no child");
    close(ready[0]);
    close(ready[1]);
    close(stacks[1]);
    out.pidfd = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, out.pid, 0)));
    out.channel = std::move(ends.first);
    Descriptor theirs(stacks[0]);
    if (told_) out.stacks = std::move(theirs);
    return out;
  }
  End reap(pid_t pid) override {
    waitpid(pid, nullptr, 0);
    close(gate[0]);
    close(gate[1]);
    return {SIGKILL, -1};
  }

 private:
  void (*const dump_)(int);
  const bool marks_;
  const bool told_;  // where the stacks can be read
};

class Worker {
 public:
  Worker(void (*dump)(int), bool marks, bool told = true)
      : pool_(budget_, std::make_shared<Dumping>(dump, marks, told)), calling_(pool_) {
    worker = calling_.take({}).value();
  }

 private:
  Budget budget_{std::size_t{64} << 20U};
  WorkerPool pool_;
  WorkerPool::Calling calling_;

 public:
  WorkerPtr worker;
};

constexpr int kLongMs = 100'000;

TEST(WorkerProcess, StacksAreReadToTheirEndHoweverSlowlyTheyAreWritten) {
  Worker slow(&dump_slowly, true);
  int asked = 0;
  const std::string text = slow.worker->stack(kLongMs, [&asked] {
    if (++asked == 3) {
      EXPECT_EQ(write(gate[1], "", 1), 1);
    }
    return false;
  });
  EXPECT_EQ(text, "Thread 0x1 (most recent call first):\n  File \"a.py\", line 5 in hangs\n");
}

TEST(WorkerProcess, StacksWithoutAnEndAreWaitedForAWhile) {
  Worker unmarked(&dump_at_once, false);
  const std::string text = unmarked.worker->stack(kLongMs, nullptr);
  EXPECT_EQ(text, "  File \"a.py\", line 5 in hangs\n");
}

TEST(WorkerProcess, AStoppedOneIsNotWaitedFor) {
  Worker stopped(&dump_at_once, true);
  kill(stopped.worker->pid(), SIGSTOP);
  int status = 0;
  waitpid(stopped.worker->pid(), &status, WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(stopped.worker->stack(1 << 30, nullptr), "");
}

TEST(WorkerProcess, OneThatHasNoneIsNotWaitedFor) {
  Worker silent(&dump_at_once, false, false);
  EXPECT_EQ(silent.worker->stack(1 << 30, nullptr), "");
}

TEST(WorkerProcess, WhoHadEnoughIsGivenWhatIsThere) {
  Worker slow(&dump_slowly, true);
  int asked = 0;
  const std::string text = slow.worker->stack(kLongMs, [&asked] { return ++asked == 3; });
  EXPECT_EQ(text, "Thread 0x1 (most recent call first):\n");
}

}  // namespace
}  // namespace spillway
