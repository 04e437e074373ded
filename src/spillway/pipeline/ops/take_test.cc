#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

// range(n) whose element `bad` fails.
NodePtr failing(std::int64_t n, std::int64_t bad) {
  return node("map", {{"map_func", scalar_fn([bad](std::int64_t x) -> Result<std::int64_t> {
                         if (x == bad) return bad_data(Code::kDataLoss, "bad element");
                         return x;
                       })}},
              {range(n)});
}

NodePtr take(std::int64_t count, NodePtr input) {
  return node("take", {{"count", count}}, {std::move(input)});
}

TEST(Take, EndsAfterItsCount) {
  check_operator({.build = [] { return take(2, range(5)); }, .expect = {"0", "1"}});
}

TEST(Take, TakesAllWhenTheCountIsLargerOrNegative) {
  check_operator({.build = [] { return take(9, range(2)); }, .expect = {"0", "1"}});
  check_operator({.build = [] { return take(-1, range(2)); }, .expect = {"0", "1"}});
}

TEST(Take, TakesNothingWhenTheCountIsZero) {
  check_operator({.build = [] { return take(0, range(2)); }, .expect = {}});
}

TEST(Take, DoesNotCountAnError) {
  check_operator(
      {.build = [] { return take(3, failing(5, 1)); }, .expect = {"0", "!DATA_LOSS", "2", "3"}});
}

TEST(Take, KnowsTheLengthOfAPieceOfAnEndlessInput) {
  EXPECT_EQ(take(3, node("repeat", {}, {range(2)}))->cardinality(), 3);
}

}  // namespace
}  // namespace spillway::testing
