#include <gtest/gtest.h>

#include <limits>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr range_of(std::int64_t start, std::int64_t stop, std::int64_t step,
                 std::string type = "int64") {
  return node("range",
              {{"start", start}, {"stop", stop}, {"step", step}, {"output_type", std::move(type)}});
}

TEST(Range, CountsUp) {
  check_operator({.build = [] { return range(3); }, .expect = {"0", "1", "2"}});
}

TEST(Range, CountsInStepsAndDown) {
  check_operator({.build = [] { return range_of(1, 8, 3); }, .expect = {"1", "4", "7"}});
  check_operator({.build = [] { return range_of(5, 0, -2); }, .expect = {"5", "3", "1"}});
}

TEST(Range, IsEmptyWhenItsEndIsOnTheOtherSide) {
  check_operator({.build = [] { return range_of(3, 1, 1); }, .expect = {}});
  check_operator({.build = [] { return range_of(1, 3, -1); }, .expect = {}});
}

TEST(Range, HasTheTypeAskedFor) {
  check_operator(
      {.build = [] { return range_of(-1, 2, 1, "float32"); }, .expect = {"-1", "0", "1"}});
  EXPECT_EQ(range_of(0, 3, 1, "int8")->structure()->dtype(), DType::kInt8);
  EXPECT_EQ(range_of(0, 3, 1, "float16")->structure()->dtype(), DType::kFloat16);
  EXPECT_EQ(range_of(0, 3, 1, "bfloat16")->structure()->dtype(), DType::kBFloat16);
}

TEST(Range, RefusesAStepOfZero) {
  const auto made = try_node(
      "range", {{"start", std::int64_t{0}}, {"stop", std::int64_t{3}}, {"step", std::int64_t{0}}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::kInvalidArgument);
}

TEST(Range, KnowsItsLengthWhereTheDistanceDoesNotFit) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(range_of(-most, most, 4)->cardinality(), most / 2 + 1);
}

}  // namespace
}  // namespace spillway::testing
