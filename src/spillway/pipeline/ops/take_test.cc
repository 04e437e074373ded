#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

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
  check_operator({.build = [] { return take(3, failing_range(5, 1)); },
                  .expect = {"0", "!DATA_LOSS", "2", "3"}});
}

TEST(Take, KnowsTheLengthOfAPieceOfAnEndlessInput) {
  EXPECT_EQ(take(3, node("repeat", {}, {range(2)}))->cardinality(), 3);
}

}  // namespace
}  // namespace spillway::testing
