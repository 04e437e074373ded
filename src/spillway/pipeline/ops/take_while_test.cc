#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr take_while(std::function<bool(std::int64_t)> keep, NodePtr input) {
  return node("take_while", {{"predicate", predicate(std::move(keep))}}, {std::move(input)});
}
FunctionPtr below(std::int64_t limit, std::int64_t fails) {
  return fn(Structure::tensor(DType::kBool, {}), [=](const Values& in) -> Result<Values> {
    const std::int64_t x = *in[0].as<std::int64_t>();
    if (x == fails) return bad_data(Code::kDataLoss, "bad element");
    const auto account = Budget::process().open_account("test");
    SW_ASSIGN(Tensor out, make_scalar(account, DType::kBool, x < limit));
    return Values{std::move(out)};
  });
}

TEST(TakeWhile, EndsBeforeTheFirstThatIsFalse) {
  check_operator(
      {.build = [] { return take_while([](std::int64_t x) { return x % 4 < 3; }, range(9)); },
       .expect = {"0", "1", "2"}});
}

TEST(TakeWhile, KeepsAllOrNothing) {
  check_operator({.build = [] { return take_while([](std::int64_t) { return true; }, range(2)); },
                  .expect = {"0", "1"}});
  check_operator({.build = [] { return take_while([](std::int64_t) { return false; }, range(2)); },
                  .expect = {}});
}

TEST(TakeWhile, GoesOnAfterAnErrorOfItsInput) {
  check_operator(
      {.build =
           [] { return take_while([](std::int64_t x) { return x < 3; }, failing_range(9, 1)); },
       .expect = {"0", "!DATA_LOSS", "2"}});
}

TEST(TakeWhile, GoesOnAfterAnErrorOfThePredicate) {
  check_operator(
      {.build = [] { return node("take_while", {{"predicate", below(4, 2)}}, {range(9)}); },
       .expect = {"0", "1", "!DATA_LOSS", "3"}});
}

TEST(TakeWhile, IgnoresAnErrorBehindTheEnd) {
  check_operator(
      {.build = [] { return node("take_while", {{"predicate", below(2, 3)}}, {range(9)}); },
       .expect = {"0", "1"}});
}

TEST(TakeWhile, RefusesAPredicateThatIsNoBoolean) {
  const auto made =
      try_node("take_while",
               {{"predicate", scalar_fn([](std::int64_t x) -> Result<std::int64_t> { return x; })}},
               {range(3)});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().info().type, "ValueError");
}

}  // namespace
}  // namespace spillway::testing
