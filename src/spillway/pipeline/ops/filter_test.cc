#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr kept(const NodePtr& input, std::function<Result<bool>(std::int64_t)> keep) {
  const auto body = [keep = std::move(keep)](const Values& in) -> Result<Values> {
    SW_ASSIGN(const bool yes, keep(*in[0].as<std::int64_t>()));
    const AccountPtr account = Budget::process().open_account("test");
    SW_ASSIGN(Tensor out, make_scalar(account, DType::kBool, yes));
    return Values{std::move(out)};
  };
  return node("filter", {{"predicate", fn(Structure::tensor(DType::kBool, {}), body)}}, {input});
}

TEST(Filter, KeepsWhatThePredicateAccepts) {
  const auto even = [](std::int64_t x) { return x % 2 == 0; };
  check_operator(
      {.build = [=] { return node("filter", {{"predicate", predicate(even)}}, {range(5)}); },
       .expect = {"0", "2", "4"}});
}

TEST(Filter, MayKeepAllOrNothing) {
  check_operator({.build = [] { return kept(range(3), [](auto) { return true; }); },
                  .expect = {"0", "1", "2"}});
  check_operator(
      {.build = [] { return kept(range(3), [](auto) { return false; }); }, .expect = {}});
}

TEST(Filter, AnErrorStandsInItsElementsPlace) {
  const auto fails = [](std::int64_t x) -> Result<bool> {
    if (x == 2 || x == 3) return bad_data(Code::kInvalidArgument, "bad ", x);
    return x != 1;
  };
  check_operator({.build = [=] { return kept(range(6), fails); },
                  .expect = {"0", "!INVALID_ARGUMENT", "!INVALID_ARGUMENT", "4", "5"}});
}

TEST(Filter, AnErrorNamesItsElement) {
  const Opened opened = open(kept(range(6), [](std::int64_t x) -> Result<bool> {
    if (x == 4) return bad_data(Code::kDataLoss, "bad");
    return true;
  }));
  ASSERT_EQ(drain(*opened.it, Demand{10}, 4).size(), 4U);
  const Next next = opened.it->next(Demand{10});
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().info().index, 4);
  EXPECT_NE(next.error().info().origin.find("element 4"), std::string::npos);
}

TEST(Filter, TheCountIsNotKnown) {
  EXPECT_EQ(kept(range(3), [](auto) { return true; })->cardinality(), kUnknownCount);
}

TEST(Filter, RefusesAPredicateThatIsNotABoolean) {
  const auto refused =
      try_node("filter", {{"predicate", scalar_fn([](std::int64_t x) { return x; })}}, {range(3)});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("must return a `tf.bool` scalar"), std::string::npos);
}

TEST(Filter, CountsWhatItLeftOut) {
  const Opened opened = open(kept(range(10), [](std::int64_t x) { return x < 3; }));
  drain(*opened.it, Demand{4});
  EXPECT_EQ(opened.it->stage().stats().filtered.rows, 7);
  EXPECT_EQ(opened.it->stage().stats().out.rows, 3);
}

}  // namespace
}  // namespace spillway::testing
