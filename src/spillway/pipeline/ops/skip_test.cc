#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr skip(std::int64_t count, NodePtr input) {
  return node("skip", {{"count", count}}, {std::move(input)});
}

TEST(Skip, LeavesOutTheFirstElements) {
  check_operator({.build = [] { return skip(3, range(5)); }, .expect = {"3", "4"}});
}

TEST(Skip, OfNothingChangesNothing) {
  check_operator({.build = [] { return skip(0, range(2)); }, .expect = {"0", "1"}});
}

TEST(Skip, LeavesNothingWhenTheCountIsLargerOrNegative) {
  check_operator({.build = [] { return skip(9, range(2)); }, .expect = {}});
  check_operator({.build = [] { return skip(-1, range(2)); }, .expect = {}});
}

TEST(Skip, HandsOutTheErrorOfAnElementBehindTheSkippedOnes) {
  check_operator(
      {.build = [] { return skip(2, failing_range(5, 3)); }, .expect = {"2", "!DATA_LOSS", "4"}});
}

TEST(Skip, BeginsToCountAnewAfterAnErrorAsTensorFlowDoes) {
  check_operator(
      {.build = [] { return skip(3, failing_range(7, 1)); }, .expect = {"!DATA_LOSS", "5", "6"}});
}

TEST(Skip, SaysInfiniteOfAnEndlessInputAsTensorFlowDoes) {
  EXPECT_EQ(skip(-1, node("repeat", {}, {range(2)}))->cardinality(), kInfinite);
}

}  // namespace
}  // namespace spillway::testing
