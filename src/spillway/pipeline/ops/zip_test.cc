#include <gtest/gtest.h>

#include <algorithm>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr from(std::int64_t start, std::int64_t stop) {
  return node("range", {{"start", start}, {"stop", stop}});
}

// Fails at the elements `bad`.
NodePtr failing(const NodePtr& input, std::vector<std::int64_t> bad) {
  const auto body = [bad = std::move(bad)](std::int64_t x) -> Result<std::int64_t> {
    if (std::ranges::find(bad, x) != bad.end()) return bad_data(Code::kDataLoss, "bad ", x);
    return x;
  };
  return node("map", {{"map_func", scalar_fn(body)}}, {input});
}

NodePtr zip(std::vector<NodePtr> inputs, const NamedValues& params = {}) {
  return node("zip", params, std::move(inputs));
}

TEST(Zip, EndsWithTheShortest) {
  check_operator({.build = [] { return zip({from(0, 5), from(10, 13)}); },
                  .expect = {"(0, 10)", "(1, 11)", "(2, 12)"}});
  check_operator({.build = [] { return zip({from(0, 0), from(10, 13)}); }, .expect = {}});
}

TEST(Zip, TheNestSaysWhereEachInputGoes) {
  const StructurePtr leaf = i64_spec();
  const StructurePtr nest = Structure::dict({"a", "b"}, {Structure::tuple({leaf, leaf}), leaf});
  check_operator(
      {.build = [=] { return zip({from(0, 2), from(10, 12), from(20, 22)}, {{"nest", nest}}); },
       .expect = {"{a: (0, 10), b: 20}", "{a: (1, 11), b: 21}"}});
}

TEST(Zip, OneDatasetIsUnwrapped) {
  const StructurePtr leaf = i64_spec();
  check_operator(
      {.build = [=] { return zip({from(3, 5)}, {{"nest", leaf}}); }, .expect = {"3", "4"}});
}

TEST(Zip, AnErrorInOneInputMovesAllInputsOn) {
  check_operator({.build = [] { return zip({failing(range(4), {1}), failing(range(4), {2})}); },
                  .expect = {"(0, 0)", "!DATA_LOSS", "!DATA_LOSS", "(3, 3)"}});
  check_operator({.build = [] { return zip({range(4), failing(range(4), {1})}); },
                  .expect = {"(0, 0)", "!DATA_LOSS", "(2, 2)", "(3, 3)"}});
}

TEST(Zip, AnErrorBeforeTheInputThatEndedIsToldAndOneBehindIsNot) {
  check_operator({.build = [] { return zip({failing(range(4), {2, 3}), range(2)}); },
                  .expect = {"(0, 0)", "(1, 1)", "!DATA_LOSS"}});
  check_operator({.build = [] { return zip({range(2), failing(range(4), {2})}); },
                  .expect = {"(0, 0)", "(1, 1)"}});
}

TEST(Zip, AfterTheEndOfOneTheLaterInputsWereAskedOnceMore) {
  int calls = 0;
  const auto count = scalar_fn([&](std::int64_t x) {
    ++calls;
    return x;
  });
  elements(zip({range(2), node("map", {{"map_func", count}}, {range(5)})}));
  EXPECT_EQ(calls, 3);
}

TEST(Zip, AsksUserCodeForOneElementAtATime) {
  int calls = 0;
  const auto count = scalar_fn([&](std::int64_t x) {
    ++calls;
    return x;
  });
  const Opened opened = open(zip({range(100), node("map", {{"map_func", count}}, {range(100)})}));
  ASSERT_TRUE(opened.it->next(Demand{50}).ok());
  EXPECT_EQ(calls, 1);
}

// range(n) whose length nobody knows.
NodePtr uncounted(std::int64_t n) {
  return node("filter", {{"predicate", predicate([](auto) { return true; })}}, {range(n)});
}

TEST(Zip, StrictNamesTheInputThatEndedFirst) {
  const auto build = [] { return zip({range(3), uncounted(2)}, {{"strict", true}}); };
  check_operator({.build = build, .expect = {"(0, 0)", "(1, 1)", "!INVALID_ARGUMENT"}});
  const Opened opened = open(build());
  drain(*opened.it, Demand{10}, 2);
  const Next next = opened.it->next(Demand{10});
  ASSERT_FALSE(next.ok());
  EXPECT_NE(
      next.error().message().find(
          "input 1 (filter, test line) ended after 2 elements, input 0 (range, test line) has"),
      std::string::npos)
      << next.error().message();
  check_operator({.build = [] { return zip({range(2), uncounted(2)}, {{"strict", true}}); },
                  .expect = {"(0, 0)", "(1, 1)"}});
}

TEST(Zip, StrictRefusesLengthsThatAreKnownToDifferWhenItIsBuilt) {
  const auto unlike = try_node("zip", {{"strict", true}}, {uncounted(9), range(3), range(2)});
  ASSERT_FALSE(unlike.ok());
  EXPECT_EQ(
      unlike.error().message(),
      "zip: strict=True: all inputs must have the same length: input 1 (range, test line) has "
      "3 elements, input 2 (range, test line) has 2 elements");
  const auto endless =
      try_node("zip", {{"strict", true}}, {range(2), node("repeat", {}, {range(2)})});
  ASSERT_FALSE(endless.ok());
  EXPECT_NE(endless.error().message().find("input 1 (repeat, test line) has no end"),
            std::string_view::npos);
  check_operator({.build = [] { return zip({range(2), range(2)}, {{"strict", true}}); },
                  .expect = {"(0, 0)", "(1, 1)"}});
}

TEST(Zip, CardinalityIsUnknownIfAnyIsElseTheShortest) {
  const NodePtr unknown =
      node("filter", {{"predicate", predicate([](auto) { return true; })}}, {range(0)});
  EXPECT_EQ(zip({range(4), range(3)})->cardinality(), 3);
  EXPECT_EQ(zip({range(0), unknown})->cardinality(), kUnknownCount);
}

TEST(Zip, RefusesNothingToZip) {
  const auto refused = try_node("zip", {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().info().type, "TypeError");
  EXPECT_EQ(refused.error().message(), "Must pass at least one dataset to `zip`.");
}

}  // namespace
}  // namespace spillway::testing
