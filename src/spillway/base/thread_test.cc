#include "spillway/base/thread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <semaphore>
#include <string>

#include "spillway/base/workers.h"

namespace spillway {
namespace {

constexpr rlim_t kMiB = 1 << 20;
constexpr int kMostThreads = 100;
// A thread that has its stack asks for more memory then, and ends the process without it.
#if defined(__has_feature)
constexpr bool kMoreThanStacks =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMoreThanStacks = true;
#else
constexpr bool kMoreThanStacks = false;
#endif
bool raised = false;

rlim_t mapped_bytes() {
  std::FILE* statm = std::fopen("/proc/self/statm", "r");
  if (statm == nullptr) return 0;
  unsigned long pages = 0;
  const int found = std::fscanf(statm, "%*u %*u %*u %*u %*u %lu", &pages);
  std::fclose(statm);
  return found == 1 ? pages * static_cast<rlim_t>(getpagesize()) : 0;
}

void limit_data(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_DATA, &limit);
}

// Starts threads that stay until the system gives no more; what start_thread() then says.
Status start_until_refused(std::counting_semaphore<>& gate) {
  for (int i = 0; i < kMostThreads; ++i) {
    Status started = start_thread([&gate] { gate.acquire(); });
    if (!started.ok()) return started;
  }
  return {};
}

// In a child: the limit is the process's. Exit code 0 means that `what` held.
template <typename What>
int in_child(const What& what) {
  const pid_t child = fork();
  if (child == 0) _exit(what() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StartThread, IsAnErrorWhereNoStackIsToBeHad) {
  if (kMoreThanStacks) GTEST_SKIP() << "a sanitizer's threads need more than their stacks";
  EXPECT_EQ(in_child([] {
              std::counting_semaphore<> gate(0);
              limit_data(mapped_bytes() + 64 * kMiB);
              const Status refused = start_until_refused(gate);
              return !refused.ok() && refused.kind() == ErrorKind::kResource &&
                     refused.message().find("cannot start a thread") != std::string_view::npos;
            }),
            0);
}

TEST(StartThread, AsksForRoomBeforeItGivesUp) {
  if (kMoreThanStacks) GTEST_SKIP() << "a sanitizer's threads need more than their stacks";
  EXPECT_EQ(in_child([] {
              std::counting_semaphore<> gate(0);
              limit_data(mapped_bytes() + 64 * kMiB);
              if (start_until_refused(gate).ok()) return false;
              set_stack_room([](std::size_t bytes) {
                raised = bytes >= kMiB;
                limit_data(mapped_bytes() + bytes + kMiB);
                return true;
              });
              return start_thread([&gate] { gate.acquire(); }).ok() && raised;
            }),
            0);
}

TEST(StartThread, AsksAgainWhereTheRoomWasTakenMeanwhile) {
  if (kMoreThanStacks) GTEST_SKIP() << "a sanitizer's threads need more than their stacks";
  EXPECT_EQ(in_child([] {
              std::counting_semaphore<> gate(0);
              limit_data(mapped_bytes() + 64 * kMiB);
              if (start_until_refused(gate).ok()) return false;
              set_stack_room([](std::size_t bytes) {
                static bool again = false;
                if (again) limit_data(mapped_bytes() + bytes + kMiB);
                again = true;
                return true;
              });
              return start_thread([&gate] { gate.acquire(); }).ok();
            }),
            0);
}

TEST(Workers, RunATaskOnTheCallersThreadWhereNoThreadIsToBeHad) {
  if (kMoreThanStacks) GTEST_SKIP() << "a sanitizer's threads need more than their stacks";
  // Those of tests before this one are counted in the child and are not there.
  if (Workers::blocking().threads() > 0) GTEST_SKIP() << "the process has blocking workers";
  EXPECT_EQ(in_child([] {
              std::counting_semaphore<> gate(0);
              limit_data(mapped_bytes() + 64 * kMiB);
              if (start_until_refused(gate).ok()) return false;
              std::atomic<std::int64_t> sum{0};
              for (std::int64_t i = 0; i < 100; ++i) {
                Workers::blocking().run([&sum, i] { sum += i; });
              }
              return sum == 4950 && Workers::blocking().threads() == 0;
            }),
            0);
}

}  // namespace
}  // namespace spillway
