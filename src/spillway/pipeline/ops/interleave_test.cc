#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr from(std::int64_t start, std::int64_t stop) {
  return node("range", {{"start", start}, {"stop", stop}});
}

FunctionPtr failing_at(std::int64_t bad) {
  return scalar_fn([bad](std::int64_t x) -> Result<std::int64_t> {
    if (x == bad) return bad_data(Code::kDataLoss, "bad ", x);
    return x;
  });
}

NodePtr mapped(const FunctionPtr& f, const NodePtr& input) {
  return node("map", {{"map_func", f}}, {input});
}

struct How {
  std::int64_t cycle = 2;
  std::int64_t block = 1;
  std::int64_t parallel = 0;
};

NodePtr interleave(const NodePtr& input, How how, std::function<NodePtr(std::int64_t)> body) {
  NamedValues params = {{"map_func", dataset_fn(std::move(body))},
                        {"cycle_length", how.cycle},
                        {"block_length", how.block}};
  if (how.parallel != 0) params.emplace_back("num_parallel_calls", how.parallel);
  return node("interleave", params, {input});
}

// x repeated x times, as in TensorFlow's own tests of the order.
NodePtr repeated(std::int64_t x) {
  return mapped(scalar_fn([x](std::int64_t) { return x; }), range(x));
}

// Sequential and parallel must agree.
void check(How how, const std::function<NodePtr()>& input,
           const std::function<NodePtr(std::int64_t)>& body, std::vector<std::string> expect) {
  for (const std::int64_t parallel : {std::int64_t{0}, how.cycle, std::int64_t{-1}}) {
    SCOPED_TRACE("num_parallel_calls " + std::to_string(parallel));
    const How each{how.cycle, how.block, parallel};
    check_operator({.build = [=] { return interleave(input(), each, body); }, .expect = expect});
  }
}

NodePtr four_five_six() { return from(4, 7); }

TEST(Interleave, ACycleOfOneIsFlatMap) {
  check({1, 1}, [] { return from(1, 4); }, repeated, {"1", "2", "2", "3", "3", "3"});
}

TEST(Interleave, TakesBlocksInTurnAndRefillsAnEmptySlotWhenItsTurnComes) {
  check({2, 1}, four_five_six, repeated,
        {"4", "5", "4", "5", "4", "5", "4", "5", "5", "6", "6", "6", "6", "6", "6"});
  check({2, 3}, four_five_six, repeated,
        {"4", "4", "4", "5", "5", "5", "4", "5", "5", "6", "6", "6", "6", "6", "6"});
  check({7, 2}, four_five_six, repeated,
        {"4", "4", "5", "5", "6", "6", "4", "4", "5", "5", "6", "6", "5", "6", "6"});
}

TEST(Interleave, EmptyDatasetsTakeTheirTurn) {
  check({2, 1}, [] { return from(0, 4); }, repeated, {"1", "2", "2", "3", "3", "3"});
  check({2, 1}, [] { return range(5); }, [](std::int64_t) { return range(0); }, {});
  check({3, 1}, [] { return range(0); }, [](std::int64_t) { return range(2); }, {});
}

TEST(Interleave, AnInnerErrorDoesNotMoveTheCursor) {
  const auto body = [](std::int64_t x) {
    return mapped(failing_at(101), from(100 * x, 100 * x + 4));
  };
  check({2, 1}, [] { return range(3); }, body,
        {"0", "100", "1", "!DATA_LOSS", "102", "2", "103", "3", "200", "201", "202", "203"});
  check({2, 2}, [] { return range(3); }, body,
        {"0", "1", "100", "!DATA_LOSS", "102", "2", "3", "103", "200", "201", "202", "203"});
}

TEST(Interleave, AnErrorOfTheInputLeavesItsSlotToTheNextElement) {
  check(
      {2, 1}, [] { return mapped(failing_at(1), range(4)); },
      [](std::int64_t x) { return from(100 * x, 100 * x + 2); },
      {"0", "!DATA_LOSS", "200", "1", "201", "300", "301"});
}

TEST(Interleave, GathersRowsOfPureDatasetsIntoChunks) {
  const auto body = [](std::int64_t x) { return from(1000 * x, 1000 * x + 100); };
  const Opened opened = open(interleave(range(2), {2, 1}, body));
  ASSERT_TRUE(opened.it->next(Demand{64}).ok());
  ASSERT_TRUE(opened.it->next(Demand{64}).ok());
  const Next next = opened.it->next(Demand{64});
  ASSERT_TRUE(next.ok() && next.value());
  EXPECT_GT(next.value()->rows(), 32);
}

TEST(Interleave, InParallelDatasetsThatWaitAreReadAtTheSameTime) {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  const auto slow = scalar_fn([&](std::int64_t x) {
    const int now = ++inside;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    while (most < 2) std::this_thread::yield();  // until another is here, too
    --inside;
    return x;
  });
  const auto body = [&](std::int64_t x) { return mapped(slow, from(10 * x, 10 * x + 3)); };
  EXPECT_EQ(elements(interleave(range(4), {4, 1, 4}, body)),
            (std::vector<std::string>{"0", "10", "20", "30", "1", "11", "21", "31", "2", "12", "22",
                                      "32"}));
}

TEST(Interleave, RefusesLengthsThatAreNotPositive) {
  const auto make = [](std::int64_t cycle, std::int64_t block, Value parallel) {
    return try_node("interleave",
                    {{"map_func", dataset_fn(range)},
                     {"cycle_length", cycle},
                     {"block_length", block},
                     {"num_parallel_calls", std::move(parallel)}},
                    {range(3)});
  };
  EXPECT_FALSE(make(0, 1, {}).ok());
  EXPECT_FALSE(make(1, 0, {}).ok());
  EXPECT_FALSE(make(2, 1, std::int64_t{0}).ok());
  EXPECT_FALSE(make(2, 1, std::int64_t{3}).ok());
  EXPECT_TRUE(make(2, 1, std::int64_t{-1}).ok());
  EXPECT_TRUE(make(1 << 20, 1 << 20, {}).ok());
}

TEST(Interleave, RefusesAFunctionThatDoesNotReturnADataset) {
  const auto refused = try_node("interleave",
                                {{"map_func", scalar_fn([](std::int64_t x) { return x; })},
                                 {"cycle_length", std::int64_t{1}}},
                                {range(3)});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().info().type, "TypeError");
}

}  // namespace
}  // namespace spillway::testing
