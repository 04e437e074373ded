#include "spillway/memory/data_limit.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spillway/base/bytes.h"

namespace spillway {
namespace {

// In a child: the limit is the process's. Exit code 0 means that `what` held.
template <typename What>
int in_child(const What& what) {
  const pid_t child = fork();
  if (child == 0) _exit(what() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

rlim_t soft() {
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  return limit.rlim_cur;
}

bool can_map(std::size_t bytes) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return false;
  munmap(mapped, bytes);
  return true;
}

TEST(DataLimit, RefusesALargeMappingAndIsLiftedAgain) {
  EXPECT_EQ(in_child([] {
              if (!can_map(4 * kGiB)) return false;
              DataLimit::follow(2 * kGiB);
              if (can_map(4 * kGiB)) return false;
              DataLimit::lift(0);
              return can_map(4 * kGiB);
            }),
            0);
}

TEST(DataLimit, IsNotTakenForWhatTheUserGave) {
  EXPECT_EQ(in_child([] {
              if (DataLimit::given().has_value()) return false;
              DataLimit::follow(2 * kGiB);
              if (DataLimit::given().has_value()) return false;
              // Set by somebody else in between: from now on that is the most.
              rlimit limit{};
              getrlimit(RLIMIT_DATA, &limit);
              limit.rlim_cur = kGiB;
              setrlimit(RLIMIT_DATA, &limit);
              DataLimit::follow(4 * kGiB);
              return DataLimit::given() == kGiB && soft() == kGiB;
            }),
            0);
}

TEST(DataLimit, StaysLiftedWhileAProcessIsStarted) {
  EXPECT_EQ(in_child([] {
              DataLimit::follow(2 * kGiB);
              DataLimit::lift(60'000'000'000);
              DataLimit::follow(2 * kGiB);
              return can_map(4 * kGiB);
            }),
            0);
}

TEST(DataLimit, IsNotInheritedByAForkedChild) {
  EXPECT_EQ(in_child([] {
              DataLimit::follow(2 * kGiB);
              return in_child([] { return can_map(4 * kGiB); }) == 0;
            }),
            0);
}

TEST(DataLimit, GrantsALittleMoreUntilItIsFollowedAgain) {
  EXPECT_EQ(in_child([] {
              if (DataLimit::grant(kMiB)) return false;  // nothing of ours to raise
              DataLimit::follow(2 * kGiB);
              const rlim_t before = soft();
              return DataLimit::grant(8 * kMiB) && soft() >= before + 7 * kMiB;
            }),
            0);
}

}  // namespace
}  // namespace spillway
