#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

std::int64_t number(const Tensor& value) { return *value.as<std::int64_t>(); }

FunctionPtr sum(std::int64_t bad = -1) {
  return fn(i64_spec(), [bad](const Values& in) -> Result<Values> {
    if (number(in[1]) == bad) return bad_data(Code::kDataLoss, "bad");
    return Values{i64(number(in[0]) + number(in[1]))};
  });
}
Value start(std::int64_t x) { return element(i64_spec(), {i64(x)}); }

NodePtr reduce(const NodePtr& input, Value state, const FunctionPtr& f) {
  return node("reduce", {{"initial_state", std::move(state)}, {"reduce_func", f}}, {input});
}

TEST(Reduce, GivesTheLastState) {
  check_operator(
      {.build = [] { return reduce(range(1000), start(0), sum()); }, .expect = {"499500"}});
}

TEST(Reduce, OfNothingIsTheInitialState) {
  check_operator({.build = [] { return reduce(range(0), start(7), sum()); }, .expect = {"7"}});
}

TEST(Reduce, AnErrorComesFirstAndAskingAgainGoesOnWithoutThatElement) {
  check_operator(
      {.build = [] { return reduce(range(5), start(0), sum(3)); }, .expect = {"!DATA_LOSS", "7"}});
}

TEST(Reduce, ANestMayBeTheState) {
  const StructurePtr two = Structure::tuple({i64_spec(), i64_spec()});
  const auto count_and_sum = fn(two, [](const Values& in) -> Result<Values> {
    return Values{i64(number(in[0]) + 1), i64(number(in[1]) + number(in[2]))};
  });
  check_operator(
      {.build =
           [=] { return reduce(range(4), Value(element(two, {i64(0), i64(0)})), count_and_sum); },
       .expect = {"(4, 6)"}});
}

TEST(Reduce, TheStateMayChangeItsShape) {
  const auto longer = fn(i64_spec({kUnknownDim}), [](const Values& in) -> Result<Values> {
    return Values{i64s(std::vector<std::int64_t>(static_cast<std::size_t>(in[0].count()) + 1))};
  });
  const auto build = [=] {
    return reduce(range(2), Value(element(i64_spec({1}), {i64s({0})})), longer);
  };
  check_operator({.build = build, .expect = {"[0 0 0]"}});
  EXPECT_EQ(build()->structure()->shape(), Shape({kUnknownDim}));
}

TEST(Reduce, RefusesAnotherTypeOrCount) {
  const auto refused = [](const StructurePtr& out) {
    const auto f = fn(out, [](const Values& in) -> Result<Values> { return in; });
    const auto made =
        try_node("reduce", {{"initial_state", start(0)}, {"reduce_func", f}}, {range(3)});
    return made.ok() ? std::string() : std::string(made.error().message());
  };
  EXPECT_EQ(refused(Structure::tensor(DType::kInt32, {})),
            "The element types for the new state must match the initial state. Expected <dtype: "
            "'int64'> but got <dtype: 'int32'>.");
  EXPECT_EQ(refused(Structure::tuple({i64_spec(), i64_spec()})),
            "The number of components of the initial state and the reduce function output does "
            "not match. (initial_state=1, output=2).");
}

}  // namespace
}  // namespace spillway::testing
