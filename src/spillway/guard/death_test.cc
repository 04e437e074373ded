#include "spillway/guard/death.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "spillway/testing/files.h"

namespace spillway {
namespace {

using ::testing::HasSubstr;
using Verdict = Death::Verdict;

Death killed(int signal) {
  Death death;
  death.signal = signal;
  death.exit_code = -1;
  return death;
}

TEST(Death, ASandboxNamesTheCall) {
  Death death = killed(SIGSYS);
  EXPECT_EQ(death.verdict(), Verdict::kSandbox);
  EXPECT_FALSE(death.innocent());
  EXPECT_THAT(death.describe(), HasSubstr("ended by its sandbox: it called what is not allowed"));
  death.stack = "sandbox: system call 41\nThread 0x1 (most recent call first):\n";
  EXPECT_EQ(death.describe(), "was ended by its sandbox: it called socket (41)");
}

TEST(Death, ALimitIsTold) {
  Death death = killed(SIGSEGV);
  death.allowed = std::size_t{1} << 30U;
  EXPECT_THAT(death.describe(), HasSubstr("; it may hold 1.00 GiB"));
  death.memory = std::size_t{2} << 30U;
  EXPECT_THAT(death.describe(), HasSubstr("it held 2.00 GiB when last seen, of 1.00 GiB"));
}

TEST(Death, TheVerdictFollowsTheEvidence) {
  EXPECT_EQ(killed(SIGSEGV).verdict(), Verdict::kCrash);
  EXPECT_EQ(killed(SIGABRT).verdict(), Verdict::kCrash);
  EXPECT_EQ(killed(SIGKILL).verdict(), Verdict::kKilled);
  EXPECT_EQ(killed(SIGTERM).verdict(), Verdict::kKilled);

  Death oom = killed(SIGKILL);
  oom.oom_before = 3;
  oom.oom_after = 4;
  oom.memory = std::size_t{2} << 30U;
  EXPECT_EQ(oom.verdict(), Verdict::kOutOfMemory);
  EXPECT_THAT(oom.describe(), HasSubstr("for want of memory (oom_kill of its cgroup 3 -> 4)"));
  EXPECT_THAT(oom.describe(), HasSubstr("it held 2"));

  Death slow = killed(SIGKILL);
  slow.ours = "its deadline of 3 s";
  slow.too_slow = true;
  slow.oom_before = 3;
  slow.oom_after = 4;
  EXPECT_EQ(slow.verdict(), Verdict::kTooSlow) << "we know what we did";
  EXPECT_THAT(slow.describe(), HasSubstr("after its deadline of 3 s"));

  Death exited;
  exited.exit_code = 7;
  EXPECT_EQ(exited.verdict(), Verdict::kExited);
  EXPECT_THAT(exited.describe(), HasSubstr("exit code 7"));
}

TEST(Death, OnlySomebodyElsesKillIsNobodysFault) {
  EXPECT_TRUE(killed(SIGKILL).innocent());
  EXPECT_FALSE(killed(SIGSEGV).innocent());
  Death exited;
  EXPECT_FALSE(exited.innocent());
}

TEST(Death, OneThatSpokeNoSenseIsToBlame) {
  Death mute = killed(SIGKILL);
  mute.mute = true;
  EXPECT_EQ(mute.verdict(), Verdict::kMute);
  EXPECT_FALSE(mute.innocent());
  EXPECT_THAT(mute.describe(), HasSubstr("its channel to this process was closed"));
}

TEST(Death, OneThatNobodyHeardOfIsNotTakenForAKill) {
  Death unknown;
  unknown.exit_code = -1;
  EXPECT_FALSE(unknown.innocent());
  EXPECT_THAT(unknown.describe(), HasSubstr("its exit status is unknown"));
}

TEST(Death, ACrashIsNamed) {
  EXPECT_THAT(killed(SIGSEGV).describe(), HasSubstr("crashed (SIGSEGV, Segmentation fault)"));
}

}  // namespace
}  // namespace spillway
