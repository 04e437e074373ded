#include <gtest/gtest.h>

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

NodePtr flat_map(const NodePtr& input, std::function<NodePtr(std::int64_t)> body) {
  return node("flat_map", {{"map_func", dataset_fn(std::move(body))}}, {input});
}

TEST(FlatMap, WalksOneDatasetAfterTheOther) {
  const auto body = [](std::int64_t x) { return from(10 * x, 10 * x + x); };
  check_operator({.build = [=] { return flat_map(range(4), body); },
                  .expect = {"10", "20", "21", "30", "31", "32"}});
}

TEST(FlatMap, DatasetsMayAllBeEmpty) {
  check_operator(
      {.build = [] { return flat_map(range(4), [](auto) { return range(0); }); }, .expect = {}});
}

TEST(FlatMap, Nests) {
  const auto inner = [](std::int64_t x) {
    return flat_map(range(2),
                    [x](std::int64_t y) { return from(100 * x + 10 * y, 100 * x + 10 * y + 2); });
  };
  check_operator({.build = [=] { return flat_map(range(2), inner); },
                  .expect = {"0", "1", "10", "11", "100", "101", "110", "111"}});
}

TEST(FlatMap, ErrorsOfTheInputTheFunctionAndTheInnerDatasetStandInTheirPlaces) {
  const auto two = [](std::int64_t x) { return from(10 * x, 10 * x + 2); };
  check_operator(
      {.build =
           [=] { return flat_map(node("map", {{"map_func", failing_at(1)}}, {range(3)}), two); },
       .expect = {"0", "1", "!DATA_LOSS", "20", "21"}});
  const auto inner_fails = [=](std::int64_t x) {
    return node("map", {{"map_func", failing_at(11)}}, {from(10 * x, 10 * x + 3)});
  };
  check_operator({.build = [=] { return flat_map(range(2), inner_fails); },
                  .expect = {"0", "1", "2", "10", "!DATA_LOSS", "12"}});
  const auto function_fails =
      fn(Structure::dataset(i64_spec()), [=](const Values& in) -> Result<Values> {
        const std::int64_t x = *in[0].as<std::int64_t>();
        if (x == 1) return bad_data(Code::kDataLoss, "bad");
        return Values{make_variant(std::make_shared<DatasetValue>(two(x)))};
      });
  check_operator(
      {.build = [=] { return node("flat_map", {{"map_func", function_fails}}, {range(3)}); },
       .expect = {"0", "1", "!DATA_LOSS", "20", "21"}});
}

TEST(FlatMap, AnErrorNamesBothLevels) {
  const Opened opened = open(flat_map(range(3), [](std::int64_t x) {
    return node("map", {{"map_func", failing_at(11)}}, {from(10 * x, 10 * x + 3)});
  }));
  drain(*opened.it, Demand::one(), 4);
  const Next next = opened.it->next(Demand::one());
  ASSERT_FALSE(next.ok());
  const std::string& origin = next.error().info().origin;
  EXPECT_NE(origin.find("element 1"), std::string::npos) << origin;
  EXPECT_NE(origin.find(", of range"), std::string::npos) << origin;
}

TEST(FlatMap, CallsTheFunctionOnceAnElementAndNotAhead) {
  std::vector<std::int64_t> calls;
  const Opened opened = open(flat_map(range(5), [&](std::int64_t x) {
    calls.push_back(x);
    return from(10 * x, 10 * x + 2);
  }));
  drain(*opened.it, Demand::one(), 3);
  EXPECT_EQ(calls, (std::vector<std::int64_t>{0, 1}));
}

TEST(FlatMap, RefusesAFunctionThatDoesNotReturnADataset) {
  const auto refused =
      try_node("flat_map", {{"map_func", scalar_fn([](std::int64_t x) { return x; })}}, {range(3)});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().info().type, "TypeError");
  EXPECT_NE(refused.error().message().find("must return a `Dataset` object"), std::string::npos);
}

TEST(FlatMap, TheCountIsNotKnown) {
  EXPECT_EQ(flat_map(range(0), [](auto) { return range(1); })->cardinality(), kUnknownCount);
}

}  // namespace
}  // namespace spillway::testing
