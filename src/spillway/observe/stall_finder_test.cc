#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "spillway/base/clock.h"
#include "spillway/observe/watchdog.h"

namespace spillway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kSecond = 1'000'000'000;

class OneRun final : public Watched {
 public:
  const void* run() const override { return this; }
  std::uint64_t moved() const override { return rows; }
  std::string progress() const override { return "rows so far:\n  map#1: 5 in, 4 out\n"; }
  LedgerSample sample() const override { return {}; }
  std::string ledger() const override { return "memory: all of it\n"; }
  std::uint64_t rows = 0;
};

class Stalls : public ::testing::Test {
 protected:
  Stalls() { Board::process().region(); }
  // What is said `s` seconds after the test began.
  std::vector<std::string> after(double s) {
    std::vector<std::string> out;
    for (const auto& stall : finder_.look(begun_ + static_cast<std::int64_t>(s * 1e9), {&run_})) {
      out.push_back(stall.text);
      last_thread_ = stall.ident;
    }
    return out;
  }
  std::uint32_t text() const {
    return stage_text("map#1", name_, "a.py:2");  // a stage of this test's own
  }

  OneRun run_;
  const std::int64_t begun_ = now_ns();
  StallFinder finder_{30};
  // The board remembers how long a stage took: each run of each test has one of its own.
  inline static int runs_ = 0;
  const std::string name_ =
      std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
      std::to_string(++runs_);
  std::uint64_t last_thread_ = 0;
};

TEST_F(Stalls, UserCodeThatDoesNotReturnIsReportedAgainAndAgain) {
  const Doing call(Phase::kFunction, text(), 0, 40, &run_);
  *call.row() = 2;
  EXPECT_TRUE(after(1).empty());
  EXPECT_TRUE(after(29).empty());
  const auto first = after(32);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_THAT(first[0], AllOf(HasSubstr("map#1 (" + name_ + "), a.py:2"), HasSubstr("element 42"),
                              HasSubstr("32 s")));
  EXPECT_EQ(last_thread_, static_cast<std::uint64_t>(pthread_self()));
  EXPECT_TRUE(after(59).empty());
  EXPECT_EQ(after(62).size(), 1U);
  EXPECT_TRUE(after(119).empty());
  EXPECT_EQ(after(122).size(), 1U);
}

TEST_F(Stalls, RowsThatGoOnAreNone) {
  const Doing call(Phase::kFunction, text(), 0, 0, &run_);
  for (int i = 0; i < 20; ++i) {
    *call.row() = i;
    EXPECT_TRUE(after(20.0 * i).empty()) << i;
  }
}

TEST_F(Stalls, AnotherCallOfTheSameStageBeginsAnew) {
  {
    const Doing call(Phase::kFunction, text(), 0, 1, &run_);
    EXPECT_EQ(after(31).size(), 1U);
  }
  EXPECT_TRUE(after(32).empty());
  const Doing next(Phase::kFunction, text(), 0, 2, &run_);
  EXPECT_TRUE(after(33).empty());
}

TEST_F(Stalls, AStageThatTakesItsTimeIsGivenTwentyTimesTheLongest) {
  {
    const Doing call(Phase::kFunction, text(), 0, 1, &run_);
    after(10);  // and it came back
  }
  after(11);
  const Doing slow(Phase::kFunction, text(), 0, 2, &run_);
  EXPECT_TRUE(after(12).empty());
  EXPECT_TRUE(after(190).empty());
  EXPECT_EQ(after(220).size(), 1U);
}

TEST_F(Stalls, ManyCallsOfOneStageAreOneReport) {
  const Doing here(Phase::kFunction, text(), 0, 1, &run_);
  std::jthread([&] {
    const Doing there(Phase::kFunction, text(), 0, 2, &run_);
    const auto found = after(31);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0], HasSubstr("1 more call"));
  }).join();
}

TEST_F(Stalls, ACallThatIsSoonDueIsToldWithTheOthers) {
  const Doing early(Phase::kFunction, text(), 0, 1, &run_);
  after(0);
  std::jthread([&] {
    const Doing late(Phase::kFunction, text(), 0, 2, &run_);
    *late.row() = 1;
    after(0);
    *late.row() = 2;
    after(10);  // this row began ten seconds after the other call
    const auto found = after(31);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0], HasSubstr("1 more call"));
    EXPECT_TRUE(after(45).empty());
  }).join();
}

TEST_F(Stalls, AWorkersCallIsReportedByItsWatch) {
  const Doing call(Phase::kFunction, text(), 0, 1, &run_);
  const DoneByWorker worker(4711);
  EXPECT_TRUE(after(1000).empty());
}

TEST_F(Stalls, AWorkerThatDoesNotStartHasNoWatchYet) {
  const Doing call(Phase::kFunction, text(), 0, 1, &run_);
  const DoneByWorker worker(0);
  const auto found = after(31);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], HasSubstr("worker process to be started"));
}

TEST_F(Stalls, AReadNamesItsFile) {
  const Doing call(Phase::kConsumer, text(), 0, 1, &run_);
  Doing read(Phase::kFile, 0, 0, -1, nullptr, 512);
  read.detail(std::string(300, 'x') + "/data/cat.jpg");
  const auto found = after(31);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], AllOf(HasSubstr("/data/cat.jpg"), HasSubstr("byte 512")));
}

TEST_F(Stalls, AWaitForMemoryShowsWhoHasIt) {
  const Doing wait(Phase::kMemory, text(), 0, -1, nullptr, 1 << 20);
  const auto found = after(31);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], AllOf(HasSubstr("1.00 MiB"), HasSubstr("memory: all of it")));
}

TEST_F(Stalls, AConsumerIsReportedWhenNothingMovesAndNobodyElseCanBeBlamed) {
  const Doing wait(Phase::kConsumer, text(), 0, 3, &run_);
  after(0);
  run_.rows = 1;
  EXPECT_TRUE(after(20).empty());
  EXPECT_TRUE(after(45).empty());  // it moved 25 s ago
  const auto found = after(51);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], AllOf(HasSubstr("element 3"), HasSubstr("4 out"), Not(HasSubstr("your"))));
}

TEST_F(Stalls, AConsumerThatWaitsForUserCodeIsNotReportedBesideIt) {
  const Doing wait(Phase::kConsumer, text(), 0, 3, &run_);
  std::jthread([&] {
    const Doing call(Phase::kGenerator, stage_text("from_generator#0", name_, "a.py:1"), 0, 3,
                     &run_);
    after(0);
    const auto found = after(31);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0], HasSubstr("from_generator#0"));
  }).join();
}

TEST_F(Stalls, OfNestedThingsTheInnermostIsToldOnce) {
  const Doing outer(Phase::kGenerator, text(), 0, 3, &run_);
  const OneRun inner_run;
  const Doing inner(Phase::kFunction, stage_text("map#9", name_, "a.py:9"), 0, 8, &inner_run);
  const auto found = after(31);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], HasSubstr("map#9"));
}

TEST(Patience, DoublesAndNeverOverflows) {
  EXPECT_EQ(patience_ns(30, 0, 0), 30 * kSecond);
  EXPECT_EQ(patience_ns(30, kSecond, 0), 30 * kSecond);
  EXPECT_EQ(patience_ns(30, 2 * kSecond, 0), 40 * kSecond);
  EXPECT_EQ(patience_ns(30, 0, 3), 240 * kSecond);
  EXPECT_GT(patience_ns(30, 1000 * kSecond, 1000), 0);
}

}  // namespace
}  // namespace spillway
