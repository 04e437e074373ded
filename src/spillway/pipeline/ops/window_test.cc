#include <gtest/gtest.h>

#include <algorithm>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr failing(std::int64_t stop, std::vector<std::int64_t> bad) {
  const auto body = [bad = std::move(bad)](std::int64_t x) -> Result<std::int64_t> {
    if (std::ranges::find(bad, x) != bad.end()) return bad_data(Code::kDataLoss, "bad ", x);
    return x;
  };
  return node("map", {{"map_func", scalar_fn(body)}}, {range(stop)});
}

NodePtr window(const NodePtr& input, std::int64_t size, Value shift = {}, std::int64_t stride = 1,
               bool drop = false) {
  return node(
      "window",
      {{"size", size}, {"shift", std::move(shift)}, {"stride", stride}, {"drop_remainder", drop}},
      {input});
}
Value n(std::int64_t x) { return {x}; }

TEST(Window, CutsTheInputIntoDatasets) {
  check_operator(
      {.build = [] { return window(range(7), 2); }, .expect = {"<0 1>", "<2 3>", "<4 5>", "<6>"}});
  check_operator({.build = [] { return window(range(7), 2, {}, 1, true); },
                  .expect = {"<0 1>", "<2 3>", "<4 5>"}});
  check_operator({.build = [] { return window(range(0), 2); }, .expect = {}});
}

TEST(Window, WindowsMayOverlapAndStrideOverElements) {
  check_operator({.build = [] { return window(range(7), 3, n(1), 2); },
                  .expect = {"<0 2 4>", "<1 3 5>", "<2 4 6>", "<3 5>", "<4 6>", "<5>", "<6>"}});
  check_operator({.build = [] { return window(range(7), 3, n(1), 2, true); },
                  .expect = {"<0 2 4>", "<1 3 5>", "<2 4 6>"}});
  check_operator(
      {.build = [] { return window(range(7), 2, n(3), 4); }, .expect = {"<0 4>", "<3>", "<6>"}});
}

TEST(Window, WindowsMayLeaveElementsBetweenThem) {
  for (const bool drop : {false, true}) {
    check_operator({.build = [=] { return window(range(7), 2, n(5), 1, drop); },
                    .expect = {"<0 1>", "<5 6>"}});
  }
}

TEST(Window, EachComponentIsADatasetOfItsOwn) {
  check_operator({.build = [] { return window(node("zip", {}, {range(3), range(3)}), 2); },
                  .expect = {"(<0 1>, <0 1>)", "(<2>, <2>)"}});
}

TEST(Window, AWindowFailsOnlyIfItContainsABadElement) {
  check_operator({.build = [] { return window(failing(8, {2, 5}), 2); },
                  .expect = {"<0 1>", "!DATA_LOSS", "!DATA_LOSS", "<6 7>"}});
  check_operator({.build = [] { return window(failing(6, {2}), 2, n(1)); },
                  .expect = {"<0 1>", "!DATA_LOSS", "!DATA_LOSS", "<3 4>", "<4 5>", "<5>"}});
  check_operator({.build = [] { return window(failing(6, {1}), 2, n(2), 2); },
                  .expect = {"<0 2>", "<2 4>", "<4>"}});
  check_operator({.build = [] { return window(failing(12, {2, 5}), 2, n(4)); },
                  .expect = {"<0 1>", "!DATA_LOSS", "<8 9>"}});
}

TEST(Window, AnErrorInADroppedRemainderIsNotTold) {
  check_operator(
      {.build = [] { return window(failing(6, {5}), 4, {}, 1, true); }, .expect = {"<0 1 2 3>"}});
  check_operator(
      {.build = [] { return window(failing(6, {5}), 4); }, .expect = {"<0 1 2 3>", "!DATA_LOSS"}});
}

TEST(Window, CardinalityIsTensorFlows) {
  const std::vector<std::int64_t> inputs = {0, 3, 4, 5, 6, 7};
  const std::vector<std::int64_t> dropped = {0, 0, 0, 1, 1, 2};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(window(range(inputs[i]), 3, n(2), 2, true)->cardinality(), dropped[i]);
    EXPECT_EQ(window(range(inputs[i]), 3, n(2), 2)->cardinality(), (inputs[i] + 1) / 2);
  }
}

TEST(Window, AHugeWindowIsTheWholeInput) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  check_operator(
      {.build = [=] { return window(range(4), most, n(most), most); }, .expect = {"<0>"}});
  check_operator({.build = [=] { return window(range(4), most); }, .expect = {"<0 1 2 3>"}});
}

TEST(Window, AWindowOutlivesItsPipelineAndMayBeWalkedTwice) {
  std::optional<Chunk> kept;
  {
    const Opened opened = open(window(range(5), 3));
    kept = std::move(*opened.it->next(Demand::one()).value());
  }
  EXPECT_EQ(show(*kept, 0), "<0 1 2>");
  EXPECT_EQ(show(*kept, 0), "<0 1 2>");
}

TEST(Window, FlattensBackToTheInput) {
  const auto identity = fn(Structure::dataset(i64_spec()),
                           [](const Values& in) -> Result<Values> { return Values{in[0]}; });
  check_operator(
      {.build =
           [=] { return node("flat_map", {{"map_func", identity}}, {window(range(5), 2, n(1))}); },
       .expect = {"0", "1", "1", "2", "2", "3", "3", "4", "4"}});
}

TEST(Window, RefusesSizesThatAreNotPositive) {
  const auto text = [](std::int64_t size, std::int64_t shift, std::int64_t stride) {
    const auto refused =
        try_node("window", {{"size", size}, {"shift", shift}, {"stride", stride}}, {range(3)});
    return refused.ok() ? std::string() : std::string(refused.error().message());
  };
  EXPECT_EQ(text(0, 1, 1), "Window size must be greater than zero.");
  EXPECT_EQ(text(1, 0, 1), "Window shift must be greater than zero.");
  EXPECT_EQ(text(1, 1, -1), "Window stride must be greater than zero.");
}

}  // namespace
}  // namespace spillway::testing
