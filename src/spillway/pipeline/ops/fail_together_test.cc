#include <gtest/gtest.h>

#include <algorithm>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr failing(std::int64_t stop, std::vector<std::int64_t> bad) {
  const auto body = [=](std::int64_t x) -> Result<std::int64_t> {
    if (std::ranges::find(bad, x) != bad.end()) return bad_data(Code::kDataLoss, "bad ", x);
    return x;
  };
  return node("map", {{"map_func", scalar_fn(body)}}, {range(stop)});
}

NodePtr together(const NodePtr& input, std::int64_t size) {
  return node("fail_together", {{"size", size}}, {input});
}

TEST(FailTogether, TheFirstErrorStandsForTheRestOfItsGroup) {
  check_operator({.build = [] { return together(failing(9, {1, 2}), 3); },
                  .expect = {"0", "!DATA_LOSS", "3", "4", "5", "6", "7", "8"}});
  check_operator({.build = [] { return together(failing(6, {2, 3}), 3); },
                  .expect = {"0", "1", "!DATA_LOSS", "!DATA_LOSS"}});
}

TEST(FailTogether, ALastGroupMayBeShort) {
  check_operator({.build = [] { return together(failing(5, {3}), 3); },
                  .expect = {"0", "1", "2", "!DATA_LOSS"}});
}

TEST(FailTogether, WithoutErrorsItHandsOn) {
  check_operator({.build = [] { return together(range(3), 2); }, .expect = {"0", "1", "2"}});
  EXPECT_EQ(together(range(3), 2)->cardinality(), 3);
}

TEST(FailTogether, AGroupHasElements) {
  EXPECT_FALSE(try_node("fail_together", {{"size", std::int64_t{0}}}, {range(3)}).ok());
}

TEST(FailTogether, EveryErrorIsInTheAudit) {
  const Opened opened = open(together(failing(6, {0, 2}), 3));
  drain(*opened.it);
  EXPECT_EQ(opened.run->stages()[1]->stats().failed.rows, 2);
  EXPECT_EQ(opened.it->stage().stats().dropped.rows, 1);
  EXPECT_EQ(opened.it->stage().stats().out.rows, 3);
}

}  // namespace
}  // namespace spillway::testing
