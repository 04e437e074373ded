#include <gtest/gtest.h>

#include <atomic>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/access.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

FunctionPtr twice() {
  return scalar_fn([](std::int64_t x) -> Result<std::int64_t> { return x * 2; });
}

FunctionPtr fails_at(std::int64_t bad) {
  return scalar_fn([bad](std::int64_t x) -> Result<std::int64_t> {
    if (x == bad) return bad_data(Code::kDataLoss, "bad element");
    return x;
  });
}

class MapForms : public ::testing::TestWithParam<std::int64_t> {
 protected:
  static Value calls() { return GetParam() == 0 ? Value() : Value(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(SequentialAndParallel, MapForms, ::testing::Values(0, 2, 7, -1));

TEST_P(MapForms, KeepsOrder) {
  check_operator({.build =
                      [] {
                        return node("map", {{"map_func", twice()}, {"num_parallel_calls", calls()}},
                                    {range(5)});
                      },
                  .expect = {"0", "2", "4", "6", "8"}});
}

TEST_P(MapForms, HandsOutAnErrorInItsPlaceAndGoesOn) {
  check_operator({.build =
                      [] {
                        return node("map",
                                    {{"map_func", fails_at(2)}, {"num_parallel_calls", calls()}},
                                    {range(4)});
                      },
                  .expect = {"0", "1", "!DATA_LOSS", "3"}});
}

TEST_P(MapForms, NamesStageLineIndexAndOriginOfTheFailingElement) {
  const Opened opened =
      open(node("map", {{"map_func", fails_at(3)}, {"num_parallel_calls", calls()}}, {range(4)}));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(opened.it->next(Demand::one()).ok());
  const Next next = opened.it->next(Demand::one());
  ASSERT_FALSE(next.ok());
  const ErrorInfo& info = next.error().info();
  EXPECT_EQ(info.stage, "map#1");
  EXPECT_EQ(info.line, "test line");
  EXPECT_EQ(info.index, 3);
  EXPECT_EQ(info.origin, "range#0 element 3, epoch 0");
  EXPECT_NE(info.input, nullptr);
}

TEST_P(MapForms, SkipsWhatThePolicySays) {
  const auto build = [] {
    return node("map",
                {{"map_func", fails_at(1)},
                 {"num_parallel_calls", calls()},
                 {"on_error", std::string("skip")}},
                {range(3)});
  };
  EXPECT_EQ(elements(build()), (std::vector<std::string>{"0", "2"}));
}

TEST(Map, RetriesAndCountsTheAttempts) {
  auto attempts = std::make_shared<std::atomic<int>>(0);
  const FunctionPtr flaky = scalar_fn([attempts](std::int64_t x) -> Result<std::int64_t> {
    if (x == 1 && ++*attempts < 3) return bad_data(Code::kUnavailable, "not yet");
    return x;
  });
  EXPECT_EQ(elements(node("map",
                          {{"map_func", flaky},
                           {"on_error", std::string("retry")},
                           {"retries", std::int64_t{3}},
                           {"backoff", 0.0}},
                          {range(3)})),
            (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(*attempts, 3);
}

TEST(Map, GivesUpAfterMaxErrors) {
  const FunctionPtr bad = scalar_fn(
      [](std::int64_t) -> Result<std::int64_t> { return bad_data(Code::kDataLoss, "bad"); });
  const Opened opened = open(
      node("map",
           {{"map_func", bad}, {"on_error", std::string("skip")}, {"max_errors", std::int64_t{2}}},
           {range(10)}));
  const Next next = opened.it->next(Demand::one());
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().info().type, "TooManyErrors");
}

TEST(Map, RefusesANonsensicalParallelism) {
  const auto made =
      try_node("map", {{"map_func", twice()}, {"num_parallel_calls", std::int64_t{0}}}, {range(1)});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::kInvalidArgument);
}

TEST(Map, ReturnsWhenTheDemandHasItsBytes) {
  const Opened opened = open(large_rows(16));
  const Next next = opened.it->next(Demand{16, 100 * kKiB, 1'000'000'000});
  ASSERT_TRUE(next.ok() && next.value());
  EXPECT_EQ(next.value()->rows(), 2);
  const Next rest = opened.it->next(Demand{16, 16 * kMiB, 1'000'000'000});
  ASSERT_TRUE(rest.ok() && rest.value());
  EXPECT_EQ(rest.value()->rows(), 14);
  EXPECT_EQ(*rest.value()->row(0).values[0].as<std::int64_t>(), 2);
}

TEST(Map, RaisesItsGuaranteeToTheLargestRowItMade) {
  Budget budget(8 * kMiB);
  const Opened opened = open(large_rows(4), budget);
  ASSERT_TRUE(opened.it->next(Demand::one()).ok());
  ASSERT_TRUE(opened.it->next(Demand::one()).ok());
  EXPECT_GE(opened.it->stage().account()->floor(), 64 * kKiB);
}

TEST(Map, SaysWhatEveryStageNeedsWhenTheGuaranteesDoNotFit) {
  Budget budget(40 * kKiB);
  const Opened opened = open(large_rows(4), budget);
  ASSERT_TRUE(opened.it->next(Demand::one()).ok());
  const Next refused = opened.it->next(Demand::one());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().info().type, "FloorTooHigh");
  EXPECT_NE(refused.error().message().find("map#1 needs 64.0 KiB"), std::string::npos)
      << refused.error().message();
}

TEST(Map, RandomAccessCallsForTheElementAskedForAlone) {
  std::vector<std::int64_t> called;
  const auto function = scalar_fn([&](std::int64_t x) -> Result<std::int64_t> {
    called.push_back(x);
    if (x == 3) return bad_data(Code::kDataLoss, "bad element");
    return x;
  });
  auto access = Access::open(node("map", {{"map_func", function}}, {range(9)}), {});
  ASSERT_TRUE(access.ok());
  EXPECT_TRUE(access.value()->at(7).ok());
  const auto failed = access.value()->at(3);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().info().stage, "map#1");
  EXPECT_EQ(failed.error().info().index, 3);
  EXPECT_EQ(failed.error().info().origin, "range#0 element 3, epoch 0");
  EXPECT_EQ(called, (std::vector<std::int64_t>{7, 3}));
}

TEST(Map, RandomAccessTakesRowsInAnyOrder) {
  // Rows that follow each other go into one call, others do not.
  const NodePtr mapped = node("map", {{"map_func", twice()}}, {range(8)});
  const NodePtr mixed =
      node("shuffle", {{"buffer_size", std::int64_t{8}}, {"seed2", std::int64_t{4}}}, {mapped});
  auto access = Access::open(batches_of(8, mixed), {});
  ASSERT_TRUE(access.ok());
  auto row = access.value()->at(0);
  ASSERT_TRUE(row.ok());
  const Tensor batch = row.value().row(0).values[0];
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < 8; ++i) sum += *batch.row(i).as<std::int64_t>();
  EXPECT_EQ(sum, 56);
}

}  // namespace
}  // namespace spillway::testing
