#include "spillway/observe/competitors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "spillway/base/bytes.h"
#include "spillway/observe/watchdog.h"

namespace spillway {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t kSecond = 1'000'000'000;

// A /proc of its own.
class Proc {
 public:
  Proc() {
    std::string name = ::testing::TempDir() + "/spillway_proc_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~Proc() { std::filesystem::remove_all(root_); }
  Proc(const Proc&) = delete;
  Proc& operator=(const Proc&) = delete;

  void set(std::int64_t pid, const std::string& name, std::uint64_t resident,
           std::int64_t started = 1, std::int64_t parent = 1,
           const std::string& command = "") const {
    const std::string dir = root_ + "/proc/" + std::to_string(pid);
    std::filesystem::create_directories(dir);
    std::ofstream stat(dir + "/stat");
    stat << pid << " (" << name << ") S " << parent;
    for (int field = 5; field <= 21; ++field) stat << " 0";
    stat << " " << started << " 999 " << resident / static_cast<std::uint64_t>(getpagesize())
         << " 0 0\n";
    std::ofstream(dir + "/cmdline") << command;
  }
  void set_group(const std::string& pid, const std::string& lines) const {
    std::filesystem::create_directories(root_ + "/proc/" + pid);
    std::ofstream(root_ + "/proc/" + pid + "/cgroup") << lines;
  }
  void end(std::int64_t pid) const {
    std::filesystem::remove_all(root_ + "/proc/" + std::to_string(pid));
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

LedgerSample at(std::uint64_t limit_mib, std::uint64_t others_mib) {
  LedgerSample sample;
  sample.asked = 1000 * kMiB;
  sample.limit = limit_mib * kMiB;
  sample.others = others_mib * kMiB;
  return sample;
}

TEST(CompetitorWatch, NamesTheProcessThatGrewWhenTheLimitShrank) {
  const Proc proc;
  proc.set(70, "python", 100 * kMiB, 1, 1, std::string("python\0train.py\0", 16));
  proc.set(71, "bash", 4 * kMiB);
  CompetitorWatch watch(proc.root());
  EXPECT_THAT(watch.look(kSecond, at(1000, 200)), IsEmpty());
  proc.set(70, "python", 600 * kMiB, 1, 1, std::string("python\0train.py\0", 16));
  proc.set(71, "bash", 5 * kMiB);
  const auto told = watch.look(2 * kSecond, at(500, 700));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].taken, 500 * kMiB);
  ASSERT_EQ(told[0].by.size(), 1U);
  EXPECT_EQ(told[0].by[0].pid, 70);
  EXPECT_EQ(told[0].by[0].grown, 500 * kMiB);
  EXPECT_EQ(told[0].by[0].resident, 600 * kMiB);
  EXPECT_EQ(told[0].by[0].command, "python train.py");
  const std::string text = to_string(told[0]);
  EXPECT_THAT(text, HasSubstr("pid 70 grew by 500 MiB to 600 MiB: python train.py"));
  EXPECT_THAT(text, HasSubstr("limit of 0.98 GiB is now 500 MiB"));
}

TEST(CompetitorWatch, SaysNothingWhenThisProcessItselfIsWhatGrew) {
  const Proc proc;
  proc.set(70, "python", 100 * kMiB);
  CompetitorWatch watch(proc.root());
  watch.look(kSecond, at(1000, 200));
  proc.set(70, "python", 600 * kMiB);
  EXPECT_THAT(watch.look(2 * kSecond, at(500, 200)), IsEmpty());
}

TEST(CompetitorWatch, SaysNothingWhileTheLimitIsStillAllThere) {
  const Proc proc;
  proc.set(70, "python", 100 * kMiB);
  CompetitorWatch watch(proc.root());
  watch.look(kSecond, at(1000, 200));
  proc.set(70, "python", 600 * kMiB);
  EXPECT_THAT(watch.look(2 * kSecond, at(1000, 700)), IsEmpty());
}

TEST(CompetitorWatch, TellsOfAProcessOnceAMinuteAndOfAnotherAtOnce) {
  const Proc proc;
  CompetitorWatch watch(proc.root());
  proc.set(70, "a", 10 * kMiB);
  proc.set(71, "b", 10 * kMiB);
  watch.look(kSecond, at(1000, 0));
  proc.set(70, "a", 110 * kMiB);
  EXPECT_EQ(watch.look(2 * kSecond, at(900, 100)).size(), 1U);
  proc.set(70, "a", 210 * kMiB);
  EXPECT_THAT(watch.look(3 * kSecond, at(800, 200)), IsEmpty());
  proc.set(71, "b", 110 * kMiB);
  const auto other = watch.look(4 * kSecond, at(700, 300));
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].by[0].pid, 71);
  proc.set(70, "a", 310 * kMiB);
  EXPECT_EQ(watch.look(64 * kSecond, at(600, 400)).size(), 1U);
}

TEST(CompetitorWatch, TakesAReusedPidForANewProcess) {
  const Proc proc;
  CompetitorWatch watch(proc.root());
  proc.set(70, "a", 300 * kMiB, 5);
  watch.look(kSecond, at(1000, 0));
  proc.end(70);
  proc.set(70, "b) x (", 200 * kMiB, 9);
  const auto told = watch.look(2 * kSecond, at(800, 200));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].by[0].grown, 200 * kMiB);
  EXPECT_EQ(told[0].by[0].command, "[b) x (]");
}

TEST(CompetitorWatch, LeavesOutItsOwnHelpersAndTheirChildren) {
  const Proc proc;
  CompetitorWatch watch(proc.root());
  watch.look(kSecond, at(1000, 0));
  disregard_process(99);
  proc.set(99, "server", 100 * kMiB);
  proc.set(71, "worker", 100 * kMiB, 1, 99);
  proc.set(72, "stranger", 90 * kMiB);
  const auto told = watch.look(2 * kSecond, at(700, 290));
  ASSERT_EQ(told.size(), 1U);
  ASSERT_EQ(told[0].by.size(), 1U);
  EXPECT_EQ(told[0].by[0].pid, 72);
}

TEST(CompetitorWatch, BlamesWhoIsInTheSameContainerFirst) {
  const Proc proc;
  CompetitorWatch watch(proc.root());
  watch.look(kSecond, at(1000, 0));
  proc.set(70, "outside", 400 * kMiB);
  proc.set(71, "inside", 300 * kMiB);
  proc.set_group("self", "4:memory:/mine\n0::/\n");
  proc.set_group("70", "4:memory:/other\n0::/\n");
  proc.set_group("71", "4:memory:/mine\n0::/\n");
  const auto told = watch.look(2 * kSecond, at(700, 300));
  ASSERT_EQ(told.size(), 1U);
  ASSERT_EQ(told[0].by.size(), 1U);
  EXPECT_EQ(told[0].by[0].pid, 71);
}

TEST(CompetitorWatch, SaysSoWhenNobodyCanBeSeen) {
  const Proc proc;
  CompetitorWatch watch(proc.root());
  watch.look(kSecond, at(1000, 0));
  const auto told = watch.look(2 * kSecond, at(700, 300));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(to_string(told[0]), HasSubstr("cannot be seen"));
  EXPECT_THAT(watch.look(3 * kSecond, at(400, 600)), IsEmpty());
}

TEST(CompetitorWatch, ShowsNoControlCharactersOfACommand) {
  const Proc proc;
  CompetitorWatch watch(proc.root());
  watch.look(kSecond, at(1000, 0));
  proc.set(70, "x", 300 * kMiB, 1, 1, "evil\x1b[2J\n" + std::string(500, 'y'));
  const std::string text = to_string(watch.look(2 * kSecond, at(700, 300)).at(0));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("evil [2J y"));
  EXPECT_LT(text.size(), 500U);
}

}  // namespace
}  // namespace spillway
