#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr mapped(const NodePtr& input, std::function<Result<std::int64_t>(std::int64_t)> f) {
  return node("map", {{"map_func", scalar_fn(std::move(f))}}, {input});
}

NodePtr from(std::int64_t start, std::int64_t stop) {
  return node("range", {{"start", start}, {"stop", stop}});
}

NodePtr in_turn(std::vector<NodePtr> datasets) { return node("in_turn", {}, std::move(datasets)); }

TEST(InTurn, TakesOneOfEachAndPassesOverWhatHasEnded) {
  check_operator({.build = [] { return in_turn({range(3), from(10, 11), from(20, 24)}); },
                  .expect = {"0", "10", "20", "1", "21", "2", "22", "23"}});
  check_operator({.build = [] { return in_turn({range(2)}); }, .expect = {"0", "1"}});
  check_operator({.build = [] { return in_turn({range(0), range(0)}); }, .expect = {}});
}

TEST(InTurn, AnErrorTakesTheTurnOfItsElement) {
  const auto build = [] {
    const NodePtr failing = mapped(range(3), [](std::int64_t x) -> Result<std::int64_t> {
      if (x == 1) return bad_data(Code::kDataLoss, "bad");
      return x;
    });
    return in_turn({failing, from(10, 13)});
  };
  check_operator({.build = build, .expect = {"0", "10", "!DATA_LOSS", "11", "2", "12"}});
}

TEST(InTurn, AllBeginWithTheFirstElementAskedFor) {
  // Each waits for all the others: one that began later would never come.
  std::latch all_begun(3);
  const auto waiting = [&](std::int64_t x) {
    if (x == 0) all_begun.arrive_and_wait();
    return x;
  };
  EXPECT_EQ(elements(in_turn(
                {mapped(range(2), waiting), mapped(range(2), waiting), mapped(range(2), waiting)})),
            (std::vector<std::string>{"0", "0", "0", "1", "1", "1"}));
}

TEST(InTurn, IsOneElementAheadOfEachTurn) {
  std::atomic<int> called{0};
  const auto count = [&](std::int64_t x) {
    ++called;
    return x;
  };
  const Opened opened = open(in_turn({mapped(range(100), count), mapped(range(100), count)}));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(opened.it->next(Demand::one()).ok());
  EXPECT_LE(called, 10 + 2);
}

TEST(InTurn, RefusesDatasetsThatDoNotFit) {
  const NodePtr small = node("range", {{"start", std::int64_t{0}},
                                       {"stop", std::int64_t{2}},
                                       {"output_type", std::string("int32")}});
  EXPECT_FALSE(try_node("in_turn", {}, {range(3), small}).ok());
  EXPECT_FALSE(try_node("in_turn", {}, {}).ok());
}

}  // namespace
}  // namespace spillway::testing
