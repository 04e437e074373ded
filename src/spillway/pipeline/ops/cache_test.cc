#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "spillway/base/bytes.h"
#include "spillway/memory/activity.h"
#include "spillway/pipeline/access.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

NodePtr cache(NodePtr input, const std::string& file = "") {
  return node("cache", {{"filename", file}}, {std::move(input)});
}
NodePtr repeat(NodePtr input, std::int64_t count) {
  return node("repeat", {{"count", count}}, {std::move(input)});
}
NodePtr take(NodePtr input, std::int64_t count) {
  return node("take", {{"count", count}}, {std::move(input)});
}
NodePtr shuffle(NodePtr input, std::int64_t buffer) {
  return node("shuffle", {{"buffer_size", buffer}, {"seed2", std::int64_t{9}}}, {std::move(input)});
}
// Counts its calls; elements in `bad` fail.
NodePtr counted(std::int64_t stop, std::int64_t* calls, std::set<std::int64_t> bad = {}) {
  return node("map", {{"map_func", scalar_fn([=](std::int64_t x) -> Result<std::int64_t> {
                         if (calls != nullptr) ++*calls;
                         if (bad.contains(x)) return invalid_argument("bad ", x);
                         return x;
                       })}},
              {range(stop)});
}
NodePtr kilobytes(std::int64_t count) {
  return node("map",
              {{"map_func", fn(i64_spec(Shape{128}),
                               [](const Values& in) -> Result<Values> {
                                 return Values{i64s(
                                     std::vector<std::int64_t>(128, *in[0].as<std::int64_t>()))};
                               })}},
              {range(count)});
}
Opened open_in(Budget& budget, const NodePtr& node) {
  auto run = Run::open(node, {}, budget);
  EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().message());
  auto it = run.value()->open_root();
  EXPECT_TRUE(it.ok()) << (it.ok() ? "" : it.error().message());
  return {std::move(run).value(), std::move(it).value()};
}
std::int64_t expect_in_order(Iterator& it, std::int64_t period) {
  std::int64_t rows = 0;
  const Consuming consuming(it.stage().run().budget());
  for (;;) {
    Next next = it.next(Demand{50});
    if (!next.ok()) ADD_FAILURE() << next.error().message();
    if (!next.ok() || !next.value()) return rows;
    for (std::int64_t i = 0; i < next.value()->rows(); ++i, ++rows) {
      const Tensor row = next.value()->columns()[0].row(i);
      EXPECT_EQ(row.as<std::int64_t>()[0], rows % period);
      EXPECT_EQ(row.as<std::int64_t>()[row.count() - 1], rows % period);
    }
  }
}

class FileCache : public ::testing::Test {
 protected:
  FileCache() {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~FileCache() override { fs::remove_all(dir_); }
  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_)) names.insert(entry.path().filename());
    return names;
  }
  const fs::path dir_ =
      fs::temp_directory_path() / ("spillway_cache_test_" + std::to_string(getpid()));
};

}  // namespace

TEST(Cache, HandsOnWhatItKeeps) {
  check_operator({.build = [] { return cache(range(5)); }, .expect = {"0", "1", "2", "3", "4"}});
  check_operator({.build = [] { return repeat(cache(range(3)), 3); },
                  .expect = {"0", "1", "2", "0", "1", "2", "0", "1", "2"}});
  check_operator({.build = [] { return cache(range(0)); }, .expect = {}});
  check_operator({.build = [] { return take(cache(range(5)), 2); }, .expect = {"0", "1"}});
}

TEST(Cache, KeepsTheOrderOfAShuffleBelow) {
  const auto build = [] { return repeat(cache(shuffle(range(6), 6)), 2); };
  Strings once = elements(take(cache(shuffle(range(6), 6)), 6));
  Strings twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  check_operator({.build = build, .expect = twice});
}

TEST(Cache, MakesEveryElementOnce) {
  std::int64_t calls = 0;
  const NodePtr cached = cache(counted(5, &calls));
  const Strings all = {"0", "1", "2", "3", "4"};
  EXPECT_EQ(elements(cached), all);
  EXPECT_EQ(elements(cached), all);
  EXPECT_EQ(calls, 5);
}

TEST(Cache, IsFinishedWhenAllKnownElementsWereSeen) {
  std::int64_t calls = 0;
  const NodePtr cached = cache(counted(5, &calls));
  const Opened first = open(cached);
  drain(*first.it, Demand::one(), 5);  // the end is not asked for
  EXPECT_EQ(elements(cached).size(), 5U);
  EXPECT_EQ(calls, 5);
}

TEST(Cache, AnUnfinishedPassLeavesNothing) {
  std::int64_t calls = 0;
  EXPECT_EQ(elements(repeat(take(cache(counted(5, &calls)), 3), 2)),
            (Strings{"0", "1", "2", "0", "1", "2"}));
  EXPECT_EQ(calls, 6);
}

TEST(Cache, UnfinishedIteratorsReadTheInputEachForItself) {
  std::int64_t calls = 0;
  const NodePtr cached = cache(counted(5, &calls));
  const Opened a = open(cached);
  const Opened b = open(cached);
  EXPECT_EQ(drain(*a.it, Demand::one(), 3), (Strings{"0", "1", "2"}));
  EXPECT_EQ(drain(*b.it), (Strings{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(drain(*a.it), (Strings{"3", "4"}));
  EXPECT_EQ(calls, 10);
}

TEST(Cache, FailedElementsAreNotKeptAndTheEndStillFinishes) {
  check_operator({.build = [] { return repeat(cache(counted(4, nullptr, {1})), 2); },
                  .expect = {"0", "!INVALID_ARGUMENT", "2", "3", "0", "2", "3"}});
}

TEST(Cache, FiveTimesTheMemoryLimitServesTwoPasses) {
  Budget budget(1 * kMiB);
  std::int64_t spilled = 0;
  {
    const NodePtr cached = repeat(cache(kilobytes(5000)), 2);
    const Opened opened = open_in(budget, cached);
    EXPECT_EQ(expect_in_order(*opened.it, 5000), 10'000);
    for (const StagePtr& stage : opened.run->stages()) spilled += stage->stats().spilled_bytes;
    EXPECT_LE(budget.ledger().peak, 1 * kMiB + 300 * kKiB);
  }
  EXPECT_GT(spilled, 0);
  EXPECT_EQ(budget.used(), 0U);
}

TEST(Cache, RowsThatCanBeMadeAgainGoWhenMemoryIsNeeded) {
  Budget budget(4 * kMiB);
  const NodePtr cached = cache(range(50'000));  // 1.2 MiB with their addresses
  {
    const Opened first = open_in(budget, cached);
    drain(*first.it, Demand{1000}, 100'000);
  }
  const Opened reader = open_in(budget, cached);
  EXPECT_EQ(drain(*reader.it, Demand{1}, 2), (Strings{"0", "1"}));
  const std::size_t held = budget.used();
  const AccountPtr other = budget.open_account("other");
  {
    const auto needed = other->reserve(3 * kMiB + 512 * kKiB);
    ASSERT_TRUE(needed.ok()) << needed.error().message();
    EXPECT_LT(budget.used() - needed.value().bytes(), held);
  }
  EXPECT_EQ(reader.it->stage().stats().spilled_bytes, 0);
  EXPECT_EQ(drain(*reader.it, Demand{1}, 2), (Strings{"2", "3"}));
}

TEST_F(FileCache, IsWrittenOnceAndReadAfterwards) {
  std::int64_t calls = 0;
  const NodePtr cached = cache(counted(5, &calls), path("a"));
  const Strings all = {"0", "1", "2", "3", "4"};
  EXPECT_EQ(elements(cached), all);
  EXPECT_EQ(files(), (std::set<std::string>{"a.cache"}));
  struct stat info{};
  ASSERT_EQ(stat(path("a.cache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(elements(cached), all);
  EXPECT_EQ(calls, 5);
  // A finished file is used even where the pipeline above it has changed.
  EXPECT_EQ(elements(cache(range(0), path("a"))), all);
}

TEST_F(FileCache, KeepsStringsAndStructure) {
  const auto spec = Structure::dict(
      {"n", "s"}, {i64_spec(), Structure::tensor(DType::kString, Shape{kUnknownDim})});
  const auto build = [&] {
    return cache(
        node("map",
             {{"map_func",
               fn(spec,
                  [](const Values& in) -> Result<Values> {
                    const std::int64_t n = *in[0].as<std::int64_t>();
                    std::vector<std::string_view> words(static_cast<std::size_t>(n), "word");
                    static const AccountPtr kAccount = Budget::process().open_account("words");
                    return Values{in[0], make_strings(kAccount, Shape{n}, words).value()};
                  })}},
             {range(3)}),
        path("s"));
  };
  const Strings all = {"{n: 0, s: []}", "{n: 1, s: ['word']}", "{n: 2, s: ['word' 'word']}"};
  EXPECT_EQ(elements(build()), all);
  EXPECT_EQ(elements(build()), all);
}

TEST_F(FileCache, AnUnfinishedPassLeavesNoFile) {
  const NodePtr cached = cache(counted(5, nullptr), path("b"));
  {
    const Opened opened = open(cached);
    drain(*opened.it, Demand::one(), 5);  // all elements, but not the end
    EXPECT_EQ(files(), (std::set<std::string>{"b_0.lockfile", "b_0.partial"}));
  }
  EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(FileCache, ASecondWriterIsRefusedWithoutTouchingTheInput) {
  std::int64_t calls = 0;
  const NodePtr cached = cache(counted(5, &calls), path("c"));
  const Opened first = open(cached);
  drain(*first.it, Demand::one(), 1);
  {
    const Opened second = open(cached);
    for (int i = 0; i < 2; ++i) {
      Next next = second.it->next(Demand::one());
      ASSERT_FALSE(next.ok());
      EXPECT_EQ(next.error().code(), Code::kAlreadyExists);
      EXPECT_NE(
          next.error().message().find("There appears to be a concurrent caching iterator running"),
          std::string::npos);
    }
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(drain(*first.it), (Strings{"1", "2", "3", "4"}));
  EXPECT_EQ(elements(cached).size(), 5U);
}

TEST_F(FileCache, ALockLeftByAKilledProcessIsTakenOver) {
  std::ofstream(path("d_0.lockfile")) << "spillway 1 created at 0";
  EXPECT_EQ(elements(cache(range(2), path("d"))), (Strings{"0", "1"}));
  std::ofstream(path("e_0.lockfile")) << "somebody else's";
  EXPECT_EQ(elements(cache(range(2), path("e")), 1), (Strings{"!ALREADY_EXISTS"}));
}

TEST_F(FileCache, DamageIsToldWithFileAndOffset) {
  EXPECT_EQ(elements(cache(range(100), path("f"))).size(), 100U);
  const auto damage = [&](std::int64_t at, bool cut) {
    const std::string name = path("f.cache");
    std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char was = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(was ^ 0x10));
    file.close();
    if (cut) fs::resize_file(name, static_cast<std::uintmax_t>(at));
  };
  const auto size = static_cast<std::int64_t>(fs::file_size(path("f.cache")));
  for (const std::int64_t at : {std::int64_t{3}, std::int64_t{20}, size / 2, size - 1}) {
    SCOPED_TRACE(at);
    damage(at, false);
    const Opened opened = open(cache(range(0), path("f")));
    for (;;) {
      Next next = opened.it->next(Demand{10});
      if (next.ok()) {
        ASSERT_TRUE(next.value()) << "the damage was not seen";
        continue;
      }
      EXPECT_EQ(next.error().code(), Code::kDataLoss);
      EXPECT_EQ(next.error().info().file, path("f.cache"));
      EXPECT_GE(next.error().info().offset, 0);
      break;
    }
    damage(at, false);  // and back
  }
  damage(size / 2, true);
  EXPECT_EQ(elements(cache(range(0), path("f")), 200).back(), "!DATA_LOSS");
}

TEST_F(FileCache, AMissingDirectoryIsTold) {
  EXPECT_EQ(elements(cache(range(2), path("no/where")), 1), (Strings{"!NOT_FOUND"}));
}

TEST_F(FileCache, ACheckpointOfTheWritingPassReadsAFileFinishedMeanwhile) {
  StateWriter writer;
  {
    const Opened first = open(cache(range(5), path("g")));
    drain(*first.it, Demand::one(), 2);
    ASSERT_TRUE(first.it->save(writer).ok());
  }
  const auto resume = [&] {
    const Opened second = open(cache(range(5), path("g")));
    StateReader reader(writer.bytes());
    EXPECT_TRUE(second.it->restore(reader).ok());
    return drain(*second.it);
  };
  EXPECT_EQ(resume(), (Strings{"2", "3", "4"}));  // fills it again
  EXPECT_EQ(files(), (std::set<std::string>{"g.cache"}));
  EXPECT_EQ(resume(), (Strings{"2", "3", "4"}));  // reads it
}

TEST(Cache, RandomAccessFillsUpToTheElementAndServesIterators) {
  std::int64_t calls = 0;
  const NodePtr kept = cache(counted(10, &calls));
  auto access = Access::open(kept, {});
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(show(access.value()->at(5).value(), 0), "5");
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(show(access.value()->at(2).value(), 0), "2");
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(show(access.value()->at(9).value(), 0), "9");
  EXPECT_EQ(calls, 10);
  EXPECT_EQ(elements(kept).size(), 10U);
  EXPECT_EQ(calls, 10);
}

TEST(Cache, RandomAccessReadsWhatAPassHasKept) {
  std::int64_t calls = 0;
  const NodePtr kept = cache(counted(10, &calls));
  EXPECT_EQ(elements(kept).size(), 10U);
  auto access = Access::open(kept, {});
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(show(access.value()->at(9).value(), 0), "9");
  EXPECT_EQ(calls, 10);
}

TEST(Cache, RandomAccessMeetsAFailedElementInItsPlaceEveryTime) {
  auto access = Access::open(cache(counted(5, nullptr, {2})), {});
  ASSERT_TRUE(access.ok());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(show(access.value()->at(1).value(), 0), "1");
    EXPECT_EQ(access.value()->at(2).status().code(), Code::kInvalidArgument);
    EXPECT_EQ(access.value()->at(3).status().code(), Code::kInvalidArgument);
  }
}

TEST(Cache, RandomAccessHoldsFiveTimesTheMemoryLimit) {
  Budget budget(4 * kMiB);
  {
    auto access = Access::open(cache(large_rows(320)), {}, budget);
    ASSERT_TRUE(access.ok());
    for (std::int64_t i = 319; i >= 0; i -= 29) {
      auto row = access.value()->at(i);
      ASSERT_TRUE(row.ok()) << row.error().message();
      EXPECT_EQ(*row.value().row(0).values[0].as<std::int64_t>(), i);
    }
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(Cache, RandomAccessMakesAgainWhatWasGivenUp) {
  Budget budget(4 * kMiB);
  auto access = Access::open(cache(batches_of(1024, range(4096))), {}, budget);
  ASSERT_TRUE(access.ok());
  ASSERT_TRUE(access.value()->at(3).ok());
  EXPECT_GT(budget.reclaim(4 * kMiB), 0U);
  auto row = access.value()->at(1);
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(*row.value().row(0).values[0].row(0).as<std::int64_t>(), 1024);
}

TEST(Cache, RandomAccessRefusesAFunctionThatAsksForItsOwnResults) {
  std::unique_ptr<Access> access;
  const auto asks = scalar_fn([&](std::int64_t x) -> Result<std::int64_t> {
    SW_ASSIGN(const Chunk other, access->at(2 - x));
    return x;
  });
  auto opened = Access::open(cache(node("map", {{"map_func", asks}}, {range(3)})), {});
  ASSERT_TRUE(opened.ok());
  access = std::move(opened).value();
  const auto row = access->at(2);
  ASSERT_FALSE(row.ok());
  EXPECT_EQ(row.error().code(), Code::kFailedPrecondition);
}

}  // namespace spillway::testing
