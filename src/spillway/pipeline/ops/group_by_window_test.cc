#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

FunctionPtr key_of(std::int64_t modulus, std::int64_t bad = -1) {
  return scalar_fn([=](std::int64_t x) -> Result<std::int64_t> {
    if (x == bad) return bad_data(Code::kDataLoss, "bad ", x);
    return x % modulus;
  });
}

NodePtr dataset_in(const Tensor& value) {
  return dynamic_cast<const DatasetValue&>(*value.variant_at(0)).node();
}

// (key, window) -> one element that shows the whole window.
FunctionPtr shown(std::int64_t bad_key = -1) {
  return fn(
      Structure::dataset(Structure::dataset(i64_spec())), [=](const Values& in) -> Result<Values> {
        if (*in[0].as<std::int64_t>() == bad_key) return bad_data(Code::kDataLoss, "bad");
        const NodePtr whole = node("window", {{"size", std::int64_t{1000}}}, {dataset_in(in[1])});
        return Values{make_variant(std::make_shared<DatasetValue>(whole))};
      });
}

// (key, window) -> the window.
FunctionPtr unchanged() {
  return fn(Structure::dataset(i64_spec()),
            [](const Values& in) -> Result<Values> { return Values{in[1]}; });
}

NodePtr grouped(const NodePtr& input, const FunctionPtr& key, const FunctionPtr& reduce, Value size,
                Value size_func = {}) {
  return node("group_by_window",
              {{"key_func", key},
               {"reduce_func", reduce},
               {"window_size", std::move(size)},
               {"window_size_func", std::move(size_func)}},
              {input});
}
Value n(std::int64_t x) { return {x}; }

TEST(GroupByWindow, AFullWindowComesAtOnceAndTheRestInTheOrderOfTheKeys) {
  check_operator({.build = [] { return grouped(range(10), key_of(3), shown(), n(2)); },
                  .expect = {"<0 3>", "<1 4>", "<2 5>", "<6 9>", "<7>", "<8>"}});
  check_operator(
      {.build = [] { return grouped(range(0), key_of(3), shown(), n(2)); }, .expect = {}});
}

TEST(GroupByWindow, DrainsAWindowBeforeItReadsOn) {
  check_operator({.build = [] { return grouped(range(9), key_of(2), unchanged(), n(3)); },
                  .expect = {"0", "2", "4", "1", "3", "5", "6", "8", "7"}});
}

TEST(GroupByWindow, TheSizeIsAskedOnceAKey) {
  int calls = 0;
  const auto size = scalar_fn([&](std::int64_t key) {
    ++calls;
    return key + 1;
  });
  EXPECT_EQ(elements(grouped(range(9), key_of(3), shown(), {}, size)),
            (std::vector<std::string>{"<0>", "<3>", "<1 4>", "<6>", "<2 5 8>", "<7>"}));
  EXPECT_EQ(calls, 3);
  check_operator({.build = [=] { return grouped(range(9), key_of(3), shown(), {}, size); },
                  .expect = {"<0>", "<3>", "<1 4>", "<6>", "<2 5 8>", "<7>"}});
}

TEST(GroupByWindow, AWindowOfNoElementsIsAnErrorOfEachElement) {
  const auto size = scalar_fn([](std::int64_t key) { return key; });
  check_operator({.build = [=] { return grouped(range(6), key_of(3), shown(), {}, size); },
                  .expect = {"!INVALID_ARGUMENT", "<1>", "!INVALID_ARGUMENT", "<4>", "<2 5>"}});
}

TEST(GroupByWindow, ErrorsOfInputAndKeyLoseTheirElementOnly) {
  const std::vector<std::string> expect = {"<0 3>", "!DATA_LOSS", "<2 5>", "<1 7>", "<6 9>", "<8>"};
  check_operator(
      {.build = [] { return grouped(range(10), key_of(3, 4), shown(), n(2)); }, .expect = expect});
  const auto failing = scalar_fn([](std::int64_t x) -> Result<std::int64_t> {
    if (x == 4) return bad_data(Code::kDataLoss, "bad");
    return x;
  });
  check_operator({.build =
                      [=] {
                        const NodePtr input = node("map", {{"map_func", failing}}, {range(10)});
                        return grouped(input, key_of(3), shown(), n(2));
                      },
                  .expect = expect});
}

TEST(GroupByWindow, AFailingReduceGivesUpItsGroupAndGoesOn) {
  check_operator({.build = [] { return grouped(range(10), key_of(3), shown(1), n(2)); },
                  .expect = {"<0 3>", "!INTERNAL", "<2 5>", "<6 9>", "!INTERNAL", "<8>"}});
}

TEST(GroupByWindow, TheWindowMayBeWalkedMoreThanOnce) {
  const auto twice = fn(
      Structure::dataset(Structure::tuple({i64_spec(), i64_spec()})),
      [](const Values& in) -> Result<Values> {
        const NodePtr rows = dataset_in(in[1]);
        return Values{make_variant(std::make_shared<DatasetValue>(node("zip", {}, {rows, rows})))};
      });
  check_operator({.build = [=] { return grouped(range(4), key_of(2), twice, n(2)); },
                  .expect = {"(0, 0)", "(2, 2)", "(1, 1)", "(3, 3)"}});
}

TEST(GroupByWindow, RefusesWhatTensorFlowRefuses) {
  const auto type = [](const FunctionPtr& key, const FunctionPtr& reduce, Value size,
                       Value size_func) {
    const auto refused = try_node("group_by_window",
                                  {{"key_func", key},
                                   {"reduce_func", reduce},
                                   {"window_size", std::move(size)},
                                   {"window_size_func", std::move(size_func)}},
                                  {range(3)});
    return refused.ok() ? std::string("ok") : refused.error().info().type;
  };
  const auto boolean = predicate([](auto) { return true; });
  EXPECT_EQ(type(key_of(2), shown(), {}, {}), "ValueError");
  EXPECT_EQ(type(key_of(2), shown(), n(1), key_of(2)), "ValueError");
  EXPECT_EQ(type(boolean, shown(), n(1), {}), "ValueError");
  EXPECT_EQ(type(key_of(2), shown(), {}, boolean), "ValueError");
  EXPECT_EQ(type(key_of(2), key_of(2), n(1), {}), "TypeError");
  EXPECT_EQ(type(key_of(2), shown(), n(1), {}), "ok");
}

}  // namespace
}  // namespace spillway::testing
