#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr repeat(Value count, NodePtr input) {
  return node("repeat", {{"count", std::move(count)}}, {std::move(input)});
}

TEST(Repeat, GoesThroughTheInputSoManyTimes) {
  check_operator(
      {.build = [] { return repeat(std::int64_t{2}, range(2)); }, .expect = {"0", "1", "0", "1"}});
  check_operator({.build = [] { return repeat(std::int64_t{0}, range(2)); }, .expect = {}});
}

TEST(Repeat, GoesOnForeverWithoutACountOrWithANegativeOne) {
  for (const Value& count : {Value(), Value(std::int64_t{-7})}) {
    check_operator({.build = [&] { return repeat(count, range(2)); },
                    .expect = {"0", "1", "0", "1", "0"},
                    .most = 5});
    EXPECT_EQ(repeat(count, range(2))->cardinality(), kInfinite);
  }
}

TEST(Repeat, EndsForeverOverNothing) {
  check_operator({.build = [] { return repeat(Value(), range(0)); }, .expect = {}});
  const auto none = [] {
    return node("filter", {{"predicate", predicate([](std::int64_t) { return false; })}},
                {range(3)});
  };
  check_operator({.build = [&] { return repeat(Value(), none()); }, .expect = {}});
}

TEST(Repeat, EndsForeverOverAnEpochThatOnlyFails) {
  check_operator(
      {.build = [] { return repeat(Value(), failing_range(1, 0)); }, .expect = {"!DATA_LOSS"}});
}

TEST(Repeat, MeetsAnErrorInEveryEpoch) {
  check_operator({.build = [] { return repeat(std::int64_t{2}, failing_range(3, 1)); },
                  .expect = {"0", "!DATA_LOSS", "2", "0", "!DATA_LOSS", "2"}});
}

TEST(Repeat, NestsAndCountsEpochsThrough) {
  const NodePtr twice = repeat(std::int64_t{2}, repeat(std::int64_t{2}, failing_range(1, 0)));
  const Opened opened = open(twice);
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    const Next next = opened.it->next({});
    ASSERT_FALSE(next.ok());
    EXPECT_EQ(next.error().info().epoch, epoch);
  }
}

TEST(Repeat, IsEmptyWhateverIsNotKnownWhenTheCountIsZero) {
  const NodePtr unknown =
      node("filter", {{"predicate", predicate([](std::int64_t) { return true; })}}, {range(3)});
  EXPECT_EQ(repeat(std::int64_t{0}, unknown)->cardinality(), 0);
  EXPECT_EQ(repeat(std::int64_t{2}, unknown)->cardinality(), kUnknownCount);
}

}  // namespace
}  // namespace spillway::testing
