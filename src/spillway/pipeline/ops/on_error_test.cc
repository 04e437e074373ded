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

NodePtr on_error(const NodePtr& input, const std::string& action, NamedValues params = {}) {
  params.emplace_back("action", action);
  return node("on_error", params, {input});
}

TEST(OnError, SkipLeavesOutWhatFailedInAnyStageBefore) {
  check_operator(
      {.build = [] { return on_error(failing(5, {1, 3}), "skip"); }, .expect = {"0", "2", "4"}});
}

TEST(OnError, RaiseChangesNothing) {
  EXPECT_EQ(elements(on_error(failing(3, {1}), "raise")),
            (std::vector<std::string>{"0", "!DATA_LOSS", "2"}));
}

TEST(OnError, TooManyErrorsAreAnError) {
  const Opened opened =
      open(on_error(failing(9, {1, 3, 5}), "skip", {{"max_errors", std::int64_t{2}}}));
  EXPECT_EQ(drain(*opened.it, Demand::one(), 3), (std::vector<std::string>{"0", "2", "4"}));
  const Next next = opened.it->next(Demand::one());
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().info().type, "TooManyErrors");
}

TEST(OnError, RetryCallsTheFunctionsBeforeItAgain) {
  int calls = 0;
  const auto flaky = scalar_fn([&](std::int64_t x) -> Result<std::int64_t> {
    if (x == 1 && ++calls < 3) return bad_data(Code::kUnavailable, "not yet");
    return x;
  });
  EXPECT_EQ(elements(on_error(node("map", {{"map_func", flaky}}, {range(3)}), "retry",
                              {{"retries", std::int64_t{2}}, {"backoff", 0.0}})),
            (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(calls, 3);
}

TEST(OnError, RefusesAnActionItDoesNotKnow) {
  EXPECT_FALSE(try_node("on_error", {{"action", std::string("explode")}}, {range(3)}).ok());
  EXPECT_FALSE(try_node("on_error", {{"action", std::string("quarantine")}}, {range(3)}).ok());
}

}  // namespace
}  // namespace spillway::testing
