#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "spillway/observe/flight_file.h"

namespace spillway {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A folder that a death test's second process, which runs the test again up to its death, shares.
class Flight : public ::testing::Test {
 protected:
  Flight() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (const char* known = std::getenv("SPILLWAY_TEST_FLIGHT")) {
      folder_ = known;
      return;
    }
    std::string made = ::testing::TempDir() + "/flight-XXXXXX";
    base_ = mkdtemp(made.data());
    folder_ = base_ + "/cache/flight";
    setenv("SPILLWAY_TEST_FLIGHT", folder_.c_str(), 1);
  }
  ~Flight() override {
    if (base_.empty()) return;
    unsetenv("SPILLWAY_TEST_FLIGHT");
    fs::remove_all(base_);
  }

  // Leaves a record of a process that was killed in the middle of a map.
  void leave_record(const std::string& program = "train.py") const {
    EXPECT_EXIT(
        {
          const Status begun = begin_flight(folder_, {program, "python", "/group", 3});
          if (!begun.ok()) std::abort();
          const Doing call(Phase::kFunction, stage_text("map#1", "decode", "train.py:7"), 0, 40,
                           nullptr);
          *call.row() = 2;
          raise(SIGKILL);
        },
        ::testing::KilledBySignal(SIGKILL), "");
  }
  // The same between two elements of a pass, or behind its end. Looks come after all deaths: the
  // second process of a death test runs everything before it again.
  void leave_record_between_elements(bool over) const {
    EXPECT_EXIT(
        {
          if (!begin_flight(folder_, {"train.py", "python", "/group", 3}).ok()) std::abort();
          Board& board = Board::process();
          const int run = 0;
          board.region()->header.open = 1;
          const std::string path = std::string(300, 'd') + "/a.csv";
          auto* element = board.note_handed(&run, stage_text("map#1", "", "train.py:7"), 5, path);
          element->store(8);
          if (over) board.forget_handed(&run);
          raise(SIGKILL);
        },
        ::testing::KilledBySignal(SIGKILL), "");
  }
  std::string only_file() const {
    std::string found;
    for (const auto& entry : fs::directory_iterator(folder_)) found = entry.path();
    return found;
  }

  std::string base_;
  std::string folder_;
};

TEST_F(Flight, WhatAKilledProcessWasAtIsFoundOnce) {
  leave_record();
  const auto found = take_dead_flight(folder_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->others, 0);
  EXPECT_EQ(found->record.program, "train.py");
  EXPECT_EQ(found->record.oom_kills, 3);
  ASSERT_EQ(found->record.tasks.size(), 1U);
  EXPECT_EQ(found->record.tasks[0].text, "map#1 (decode), train.py:7");
  EXPECT_EQ(found->record.tasks[0].element, 42);
  EXPECT_FALSE(take_dead_flight(folder_));
  const auto last = last_flight(folder_);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last.value().tasks.size(), 1U);
}

TEST_F(Flight, TheRecordOfAnotherProgramWaitsForItsOwn) {
  const std::string lengthy(600, 'x');
  leave_record();
  leave_record(lengthy);
  EXPECT_FALSE(take_dead_flight(folder_, "eval.py"));
  EXPECT_FALSE(take_dead_flight(folder_, "train.pyc"));
  const auto found = take_dead_flight(folder_, "train.py");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->record.program, "train.py");
  EXPECT_TRUE(take_dead_flight(folder_, lengthy));
}

TEST_F(Flight, AtMostSixteenRecordsWait) {
  for (int i = 0; i < 20; ++i) leave_record();
  EXPECT_FALSE(take_dead_flight(folder_, "eval.py"));
  const auto last = take_dead_flight(folder_, "train.py");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->others, 15) << "more than sixteen are not kept";
}

TEST_F(Flight, TheElementHandedOnLastIsTold) {
  leave_record_between_elements(false);
  const auto found = take_dead_flight(folder_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->record.handed, 8);
  EXPECT_EQ(found->record.handed_by, "map#1, train.py:7");
  EXPECT_EQ(found->record.handed_file.size(), 256U) << "the end of a long path";
  EXPECT_TRUE(found->record.handed_file.ends_with("dd/a.csv"));
}

TEST_F(Flight, NoElementIsToldBehindTheEndOfItsPass) {
  leave_record_between_elements(true);
  const auto found = take_dead_flight(folder_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->record.handed, -1);
}

TEST_F(Flight, OnlyTheNewestIsKept) {
  for (int i = 0; i < 3; ++i) leave_record();
  const auto found = take_dead_flight(folder_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->others, 2);
  EXPECT_THAT(only_file(), HasSubstr("/last"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Flight, FileAndFolderAreTheUsersAlone) {
  leave_record();
  struct stat about{};
  ASSERT_EQ(stat(folder_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0700U);
  ASSERT_EQ(stat(only_file().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  EXPECT_LE(about.st_size, 256 * 1024);
}

TEST_F(Flight, AnOrderlyEndLeavesNothingAndAForkedChildLeavesItAlone) {
  EXPECT_EXIT(
      {
        if (!begin_flight(folder_, {}).ok()) std::abort();
        if (fork() == 0) {
          end_flight();
          _exit(0);
        }
        // Still there, locked, and not taken for a dead one's.
        if (take_dead_flight(folder_) || only_file().empty()) std::abort();
        end_flight();
        if (!only_file().empty()) std::abort();
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Flight, AProcessThatRanNothingWhenItEndedIsNoNews) {
  EXPECT_EXIT(
      {
        if (!begin_flight(folder_, {}).ok()) std::abort();
        raise(SIGKILL);
      },
      ::testing::KilledBySignal(SIGKILL), "");
  EXPECT_FALSE(take_dead_flight(folder_));
  EXPECT_EQ(only_file(), "");
}

TEST_F(Flight, WhatIsNoRecordIsRemovedAndLinksAreNotFollowed) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/garbage.flight") << "garbage";
  std::ofstream(base_ + "/precious") << std::string(sizeof(flight::Region), 'x');
  fs::create_symlink(base_ + "/precious", folder_ + "/link.flight");
  fs::create_symlink(base_ + "/precious", folder_ + "/last");
  mkfifo((folder_ + "/pipe.flight").c_str(), 0600);
  EXPECT_FALSE(take_dead_flight(folder_));
  EXPECT_FALSE(fs::exists(folder_ + "/garbage.flight"));
  EXPECT_TRUE(fs::exists(base_ + "/precious"));
  EXPECT_FALSE(last_flight(folder_).ok());
}

TEST_F(Flight, AFolderThatIsALinkIsNotUsed) {
  fs::create_directories(base_ + "/elsewhere");
  fs::create_directories(base_ + "/cache");
  fs::create_symlink(base_ + "/elsewhere", folder_);
  EXPECT_FALSE(take_dead_flight(folder_));
  EXPECT_FALSE(last_flight(folder_).ok());
}

TEST_F(Flight, WhereNothingCanBeWrittenTheReasonIsTold) {
  EXPECT_EXIT(
      {
        const Status begun = begin_flight("/proc/nowhere/flight", {});
        _exit(begun.ok() ? 1 : begun.message().find("/proc/nowhere") == 0 ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Flight, ADamagedRecordIsRefusedOrReadWithinItsBounds) {
  leave_record();
  std::ifstream file(only_file(), std::ios::binary);
  std::string good((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(good.size(), sizeof(flight::Region));
  const auto parse = [](const std::string& text) {
    return read_flight_record(std::as_bytes(std::span(text)));
  };
  ASSERT_TRUE(parse(good).ok());
  EXPECT_FALSE(parse("").ok());
  EXPECT_FALSE(parse(good.substr(0, 4000)).ok());
  EXPECT_FALSE(parse(good + "x").ok());
  std::string newer = good;
  newer[offsetof(flight::Header, version)] = 2;
  EXPECT_FALSE(parse(newer).ok());
  std::string huge = good;
  for (std::size_t at = sizeof(flight::kMagic) + 8; at < huge.size(); ++at) huge[at] = '\xff';
  const auto read = parse(huge);
  ASSERT_TRUE(read.ok());
  EXPECT_LE(read.value().memory.size(), flight::kSnapshots);
  EXPECT_LE(read.value().tasks.size(), flight::kThreads * flight::kLevels);
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
  for (int round = 0; round < 300; ++round) {
    std::string damaged = good;
    for (int i = 0; i < 200; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto result = parse(damaged);
    if (!result.ok()) continue;
    EXPECT_LE(result.value().memory.size(), flight::kSnapshots);
  }
}

}  // namespace
}  // namespace spillway
