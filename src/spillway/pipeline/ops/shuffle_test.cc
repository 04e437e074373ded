#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "spillway/base/bytes.h"
#include "spillway/memory/activity.h"
#include "spillway/pipeline/access.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

constexpr std::int64_t kOpSeedOnly = 87654321;  // what the front pairs an operator's seed with

NodePtr shuffle(NodePtr input, std::int64_t buffer, std::int64_t seed,
                std::int64_t first = kOpSeedOnly, bool reshuffle = true) {
  return node("shuffle",
              {{"buffer_size", buffer},
               {"seed", first},
               {"seed2", seed},
               {"reshuffle_each_iteration", reshuffle}},
              {std::move(input)});
}
NodePtr repeat(NodePtr input, std::int64_t count) {
  return node("repeat", {{"count", count}}, {std::move(input)});
}
// The same elements from an input without random access: the general form.
NodePtr opaque(std::int64_t stop) {
  return node("filter", {{"predicate", predicate([](std::int64_t) { return true; })}},
              {range(stop)});
}
NodePtr failing(std::int64_t stop, std::set<std::int64_t> bad) {
  return node(
      "map",
      {{"map_func", scalar_fn([bad = std::move(bad)](std::int64_t x) -> Result<std::int64_t> {
          if (bad.contains(x)) return invalid_argument("bad ", x);
          return x;
        })}},
      {range(stop)});
}
std::vector<std::string> list(const std::string& words) {
  std::vector<std::string> out;
  std::istringstream text(words);
  for (std::string word; text >> word;) out.push_back(word);
  return out;
}
Opened open_in(Budget& budget, const NodePtr& node) {
  auto run = Run::open(node, {}, budget);
  EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().message());
  auto it = run.value()->open_root();
  EXPECT_TRUE(it.ok()) << (it.ok() ? "" : it.error().message());
  return {std::move(run).value(), std::move(it).value()};
}
// Elements of 1 KiB, made by a function: nothing can be gathered by index.
NodePtr kilobytes(std::int64_t count) {
  const auto spec = i64_spec(Shape{128});
  return node("map",
              {{"map_func", fn(spec,
                               [](const Values& in) -> Result<Values> {
                                 return Values{i64s(
                                     std::vector<std::int64_t>(128, *in[0].as<std::int64_t>()))};
                               })}},
              {range(count)});
}
std::vector<std::int64_t> first_items(Iterator& it, const Demand& demand) {
  std::vector<std::int64_t> out;
  const Consuming consuming(it.stage().run().budget());
  for (;;) {
    Next next = it.next(demand);
    if (!next.ok()) {
      ADD_FAILURE() << next.error().message();
      break;
    }
    if (!next.value()) break;
    for (std::int64_t i = 0; i < next.value()->rows(); ++i) {
      const Tensor row = next.value()->columns()[0].row(i);
      EXPECT_EQ(row.as<std::int64_t>()[0], row.as<std::int64_t>()[row.count() - 1]);
      out.push_back(row.as<std::int64_t>()[0]);
    }
  }
  return out;
}

}  // namespace

// Orders below are TensorFlow 2.21's own, with its rewrites switched off.
TEST(Shuffle, GivesTensorFlowsOrderOverIndices) {
  check_operator({.build = [] { return shuffle(range(10), 3, 2, 1, false); },
                  .expect = list("2 3 0 5 6 4 7 8 9 1")});
  check_operator(
      {.build = [] { return shuffle(range(10), 10, 42); }, .expect = list("5 9 6 4 7 1 2 8 3 0")});
  check_operator({.build = [] { return shuffle(range(10), 1 << 20, 7); },
                  .expect = list("2 8 6 5 9 1 0 3 7 4")});
  check_operator({.build = [] { return shuffle(range(5), 1, 7); }, .expect = list("0 1 2 3 4")});
  check_operator({.build = [] { return shuffle(range(0), 3, 7); }, .expect = {}});
}

TEST(Shuffle, GivesTheSameOrderOverAnyInput) {
  check_operator({.build = [] { return shuffle(opaque(10), 3, 2, 1, false); },
                  .expect = list("2 3 0 5 6 4 7 8 9 1")});
  check_operator(
      {.build = [] { return shuffle(opaque(10), 10, 42); }, .expect = list("5 9 6 4 7 1 2 8 3 0")});
  check_operator({.build = [] { return shuffle(opaque(10), kUnknownCount, 42); },
                  .expect = list("5 9 6 4 7 1 2 8 3 0")});
  check_operator({.build = [] { return shuffle(repeat(range(10), 2), 4, 42); },
                  .expect = list("1 4 2 3 5 0 6 9 8 2 0 3 1 4 5 7 9 6 7 8")});
  check_operator({.build = [] { return shuffle(opaque(0), 3, 7); }, .expect = {}});
}

TEST(Shuffle, ReshufflesEachPassAndOnlyThen) {
  for (const bool indexed : {true, false}) {
    const auto input = [&] { return indexed ? range(10) : opaque(10); };
    check_operator({.build = [&] { return repeat(shuffle(input(), 3, 42), 2); },
                    .expect = list("0 3 4 2 1 5 8 6 7 9 0 1 4 2 5 7 8 3 9 6")});
    const NodePtr same = shuffle(input(), 10, 42, kOpSeedOnly, false);
    EXPECT_EQ(elements(same), list("2 0 7 8 9 3 6 4 1 5"));
    EXPECT_EQ(elements(same), list("2 0 7 8 9 3 6 4 1 5"));
    const NodePtr anew = shuffle(input(), 10, 42);
    EXPECT_EQ(elements(anew), list("5 9 6 4 7 1 2 8 3 0"));
    EXPECT_EQ(elements(anew), list("3 7 6 5 8 4 0 1 9 2"));
  }
}

TEST(Shuffle, ErrorsOfTheInputSurfaceAtOnceAndTheBufferStays) {
  const auto build = [](std::int64_t buffer) {
    return [buffer] { return shuffle(failing(8, {2, 5}), buffer, 42); };
  };
  const std::string bad = "!INVALID_ARGUMENT";
  check_operator({.build = build(1), .expect = list("0 1 " + bad + " 3 4 " + bad + " 6 7")});
  check_operator({.build = build(2), .expect = list("1 " + bad + " 3 0 " + bad + " 4 7 6")});
  check_operator({.build = build(3), .expect = list(bad + " 0 4 " + bad + " 6 3 7 1")});
  check_operator({.build = build(10), .expect = list(bad + " " + bad + " 4 3 1 6 7 0")});
}

TEST(Shuffle, RefusesABufferOfNothing) {
  for (const std::int64_t size : {0, -1, -3}) {
    const auto made = try_node("shuffle", {{"buffer_size", size}}, {range(3)});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().message(),
              "buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  }
}

TEST(Shuffle, WithoutASeedPassesDifferAndStillHoldEveryElementOnce) {
  const NodePtr any = shuffle(range(100), 50, 0, 0);
  std::vector<std::string> first = elements(any);
  std::vector<std::string> second = elements(any);
  EXPECT_NE(first, second);
  EXPECT_NE(first, elements(shuffle(range(100), 50, 0, 0)));
  std::ranges::sort(first);
  std::ranges::sort(second);
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 100U);
}

TEST(Shuffle, ACheckpointKeepsTheSeedThatWasDrawn) {
  const auto build = [] { return repeat(shuffle(range(20), 8, 0, 0), 2); };
  const Opened first = open(build());
  drain(*first.it, Demand::one(), 7);
  StateWriter writer;
  ASSERT_TRUE(first.it->save(writer).ok());
  const auto rest = drain(*first.it);
  const Opened second = open(build());
  StateReader reader(writer.bytes());
  ASSERT_TRUE(second.it->restore(reader).ok());
  EXPECT_EQ(drain(*second.it), rest);
}

TEST(Shuffle, CheckpointsAreSmall) {
  for (const bool indexed : {true, false}) {
    const Opened opened = open(shuffle(indexed ? range(4000) : opaque(4000), 400, 1));
    drain(*opened.it, Demand{100}, 1500);
    StateWriter writer;
    ASSERT_TRUE(opened.it->save(writer).ok());
    EXPECT_LT(writer.bytes().size(), indexed ? 64U : 1000U);
  }
}

TEST(Shuffle, RowsKeepTheirOriginsInEitherForm) {
  for (const bool indexed : {true, false}) {
    const Opened opened = open(repeat(shuffle(indexed ? range(10) : opaque(10), 4, 3), 2));
    std::vector<std::string> told;
    while (true) {
      Next next = opened.it->next(Demand{7});
      ASSERT_TRUE(next.ok());
      if (!next.value()) break;
      for (std::int64_t i = 0; i < next.value()->rows(); ++i) {
        told.push_back(next.value()->origins().describe(i));
        const auto value = next.value()->columns()[0].row(i).as<std::int64_t>()[0];
        EXPECT_EQ(told.back(), "range#0 element " + std::to_string(value) + ", epoch " +
                                   (told.size() <= 10 ? "0" : "1"));
      }
    }
    EXPECT_EQ(told.size(), 20U);
  }
}

TEST(Shuffle, PullsTheBufferFullThenOneForOne) {
  std::int64_t calls = 0;
  const NodePtr counted =
      shuffle(node("map", {{"map_func", scalar_fn([&calls](std::int64_t x) -> Result<std::int64_t> {
                              ++calls;
                              return x;
                            })}},
                   {range(100)}),
              10, 1);
  const Opened opened = open(counted);
  drain(*opened.it, Demand::one(), 1);
  EXPECT_EQ(calls, 10);
  drain(*opened.it, Demand::one(), 5);
  EXPECT_EQ(calls, 15);
  drain(*opened.it, Demand{7}, 7);
  EXPECT_EQ(calls, 22);
}

TEST(Shuffle, TenTimesTheMemoryLimitComesInTheRightOrderFromDisk) {
  constexpr std::int64_t kRows = 3000;  // 3 MiB of elements
  constexpr std::size_t kLimit = 300 * kKiB;
  std::vector<std::int64_t> expect;
  {
    const Opened roomy = open(shuffle(kilobytes(kRows), kRows, 5));
    expect = first_items(*roomy.it, Demand{64});
  }
  ASSERT_EQ(expect.size(), static_cast<std::size_t>(kRows));
  Budget budget(kLimit);
  {
    const Opened tight = open_in(budget, shuffle(kilobytes(kRows), kRows, 5));
    EXPECT_EQ(first_items(*tight.it, Demand{64}), expect);
    EXPECT_GT(tight.it->stage().stats().spilled_bytes, std::int64_t{2} * 1000 * 1000);
    // Owed: parts of a page that are read, and the page of the list of rows while it grows.
    EXPECT_LE(budget.ledger().peak, kLimit + 112 * kKiB);
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(Shuffle, ACheckpointMovesBetweenMemoryLimits) {
  // With room the indices are shuffled; without, the rows themselves, from disk.
  constexpr std::int64_t kRows = 12'000;
  const auto build = [] { return shuffle(range(kRows), kRows, 5); };
  Budget small(40 * kKiB);
  const Opened roomy = open(build());
  const Opened tight = open_in(small, build());
  EXPECT_EQ(drain(*roomy.it, Demand::one(), 200), drain(*tight.it, Demand::one(), 200));
  EXPECT_GT(tight.it->stage().stats().spilled_bytes, 0);
  EXPECT_EQ(roomy.it->stage().stats().spilled_bytes, 0);
  StateWriter from_roomy;
  StateWriter from_tight;
  ASSERT_TRUE(roomy.it->save(from_roomy).ok());
  ASSERT_TRUE(tight.it->save(from_tight).ok());
  const auto next = drain(*roomy.it, Demand::one(), 100);
  const Opened to_roomy = open(build());
  StateReader one(from_tight.bytes());
  ASSERT_TRUE(to_roomy.it->restore(one).ok());
  EXPECT_EQ(drain(*to_roomy.it, Demand::one(), 100), next);
  Budget other(40 * kKiB);
  const Opened to_tight = open_in(other, build());
  StateReader two(from_roomy.bytes());
  ASSERT_TRUE(to_tight.it->restore(two).ok());
  EXPECT_EQ(drain(*to_tight.it, Demand::one(), 100), next);
}

#ifdef SW_TEST_POINTS
TEST(Shuffle, WithASeedAFullDiskIsATypedErrorAndNothingIsLost) {
  Budget budget(1 * kMiB);
  const Opened tight = open_in(budget, shuffle(kilobytes(4000), 3000, 5));
  setenv("SPILLWAY_TEST_DISK_FULL", "1", 1);
  Next next = tight.it->next(Demand{8});
  unsetenv("SPILLWAY_TEST_DISK_FULL");
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().info().type, "DiskFull");
  EXPECT_EQ(next.error().kind(), ErrorKind::kResource);
  const Opened roomy = open(shuffle(kilobytes(4000), 3000, 5));
  EXPECT_EQ(first_items(*tight.it, Demand{8}), first_items(*roomy.it, Demand{8}));
}

TEST(Shuffle, WithoutASeedAFullDiskMakesASmallerBuffer) {
  Budget budget(1 * kMiB);
  const Opened tight = open_in(budget, shuffle(kilobytes(4000), 3000, 0, 0));
  setenv("SPILLWAY_TEST_DISK_FULL", "1", 1);
  std::vector<std::int64_t> got = first_items(*tight.it, Demand{8});
  unsetenv("SPILLWAY_TEST_DISK_FULL");
  EXPECT_LT(tight.it->stage().stats().effective, 1000);
  EXPECT_GT(tight.it->stage().stats().effective, 100);
  std::ranges::sort(got);
  ASSERT_EQ(got.size(), 4000U);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<std::int64_t>(i));
}
#endif

TEST(Shuffle, RandomAccessHasOneOrderAndLeavesThePassesAlone) {
  // As TensorFlow gives it with seed=42.
  const std::vector<std::string> expect = list("2 0 7 8 9 3 6 4 1 5");
  for (const std::int64_t buffer : {3, 10}) {
    const NodePtr shuffled = shuffle(range(10), buffer, 42);
    auto access = Access::open(shuffled, {});
    ASSERT_TRUE(access.ok());
    for (std::int64_t i = 0; i < 10; ++i) {
      EXPECT_EQ(show(access.value()->at(i).value(), 0), expect[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(elements(shuffled), elements(shuffle(range(10), buffer, 42)));
  }
}

TEST(Shuffle, RandomAccessPaysForItsOrder) {
  Budget budget(kMiB);
  {
    auto access = Access::open(shuffle(range(1000), 5, 1), {}, budget);
    ASSERT_TRUE(access.ok());
    EXPECT_GE(budget.used(), 8000U);
  }
  EXPECT_EQ(budget.used(), 0U);
  const auto refused = Access::open(shuffle(range(1'000'000'000), 5, 1), {}, budget);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kResource);
}

}  // namespace spillway::testing
