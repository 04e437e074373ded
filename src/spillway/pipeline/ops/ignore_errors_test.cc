#include <gtest/gtest.h>

#include <algorithm>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr failing(std::int64_t stop, std::vector<std::int64_t> bad, Code code = Code::kDataLoss) {
  const auto body = [=](std::int64_t x) -> Result<std::int64_t> {
    if (std::ranges::find(bad, x) != bad.end()) return bad_data(code, "bad ", x);
    return x;
  };
  return node("map", {{"map_func", scalar_fn(body)}}, {range(stop)});
}

NodePtr ignoring(const NodePtr& input) { return node("ignore_errors", {}, {input}); }

TEST(IgnoreErrors, LeavesOutWhatFailed) {
  check_operator({.build = [] { return ignoring(failing(5, {1, 3, 4})); }, .expect = {"0", "2"}});
  check_operator({.build = [] { return ignoring(failing(3, {0, 1, 2})); }, .expect = {}});
  check_operator({.build = [] { return ignoring(range(3)); }, .expect = {"0", "1", "2"}});
}

TEST(IgnoreErrors, MindsEveryStageBeforeIt) {
  check_operator({.build =
                      [] {
                        const NodePtr both = node("zip", {}, {failing(4, {1}), failing(4, {2})});
                        return ignoring(both);
                      },
                  .expect = {"(0, 0)", "(3, 3)"}});
}

TEST(IgnoreErrors, DoesNotMindStagesBehindIt) {
  const auto bad = scalar_fn([](std::int64_t x) -> Result<std::int64_t> {
    if (x == 2) return bad_data(Code::kDataLoss, "bad");
    return x;
  });
  EXPECT_EQ(elements(node("map", {{"map_func", bad}}, {ignoring(failing(4, {1}))})),
            (std::vector<std::string>{"0", "!DATA_LOSS", "3"}));
}

TEST(IgnoreErrors, ACancelledPassIsNotAnElement) {
  const Opened opened = open(ignoring(failing(4, {1}, Code::kCancelled)));
  EXPECT_EQ(drain(*opened.it, Demand::one(), 2), (std::vector<std::string>{"0", "!CANCELLED"}));
}

TEST(IgnoreErrors, EveryElementLeftOutIsInTheAudit) {
  const Opened opened = open(ignoring(failing(5, {1, 3})));
  drain(*opened.it);
  EXPECT_EQ(opened.it->stage().stats().out.rows, 3);
  // Of the stage that failed.
  EXPECT_EQ(opened.run->stages()[1]->stats().skipped.rows, 2);
  EXPECT_EQ(opened.run->stages()[1]->stats().failed.rows, 0);
  EXPECT_EQ(opened.it->stage().stats().skipped.rows, 0);
}

TEST(IgnoreErrors, TheCountIsNotKnown) {
  EXPECT_EQ(ignoring(range(3))->cardinality(), kUnknownCount);
}

}  // namespace
}  // namespace spillway::testing
