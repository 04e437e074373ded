#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

StructurePtr pair_of(StructurePtr state, StructurePtr out) {
  return Structure::tuple({std::move(state), std::move(out)});
}
std::int64_t number(const Tensor& value) { return *value.as<std::int64_t>(); }
Value zero() { return element(i64_spec(), {i64(0)}); }

// state + x, and ten times the state before.
FunctionPtr sums(std::int64_t bad = -1) {
  return fn(pair_of(i64_spec(), i64_spec()), [bad](const Values& in) -> Result<Values> {
    if (number(in[1]) == bad) return bad_data(Code::kDataLoss, "bad");
    return Values{i64(number(in[0]) + number(in[1])), i64(10 * number(in[0]))};
  });
}

NodePtr scan(const NodePtr& input, Value state, const FunctionPtr& f) {
  return node("scan", {{"initial_state", std::move(state)}, {"scan_func", f}}, {input});
}

TEST(Scan, CarriesTheStateFromElementToElement) {
  check_operator({.build = [] { return scan(range(5), zero(), sums()); },
                  .expect = {"0", "0", "10", "30", "60"}});
  check_operator({.build = [] { return scan(range(0), zero(), sums()); }, .expect = {}});
}

TEST(Scan, AnElementThatFailsLeavesTheStateAsItWas) {
  // Behind a filter: with failing elements the known count is not the number of rows.
  const auto all = [](const NodePtr& input) {
    return node("filter", {{"predicate", predicate([](auto) { return true; })}}, {input});
  };
  const std::vector<std::string> expect = {"0", "0", "!DATA_LOSS", "10", "40"};
  check_operator({.build = [=] { return all(scan(range(5), zero(), sums(2))); }, .expect = expect});
  const auto failing = scalar_fn([](std::int64_t x) -> Result<std::int64_t> {
    if (x == 2) return bad_data(Code::kDataLoss, "bad");
    return x;
  });
  check_operator({.build =
                      [=] {
                        const NodePtr input = node("map", {{"map_func", failing}}, {range(5)});
                        return all(scan(input, zero(), sums()));
                      },
                  .expect = expect});
}

TEST(Scan, StateAndOutputAreNests) {
  const StructurePtr two = pair_of(i64_spec(), i64_spec());
  const auto fibonacci = fn(pair_of(two, Structure::dict({"a"}, {i64_spec()})),
                            [](const Values& in) -> Result<Values> {
                              return Values{in[1], i64(number(in[0]) + number(in[1])), in[0]};
                            });
  const Value start = element(two, {i64(0), i64(1)});
  check_operator({.build = [=] { return scan(range(6), start, fibonacci); },
                  .expect = {"{a: 0}", "{a: 1}", "{a: 1}", "{a: 2}", "{a: 3}", "{a: 5}"}});
}

TEST(Scan, TheStateMayChangeItsShape) {
  const auto longer =
      fn(pair_of(i64_spec({kUnknownDim}), i64_spec({kUnknownDim})),
         [](const Values& in) -> Result<Values> {
           const std::vector<std::int64_t> zeros(static_cast<std::size_t>(2 * in[0].count()));
           return Values{i64s(zeros), in[0]};
         });
  const Value start = element(i64_spec({1}), {i64s({0})});
  check_operator({.build = [=] { return scan(range(3), start, longer); },
                  .expect = {"[0]", "[0 0]", "[0 0 0 0]"}});
}

TEST(Scan, KeepsTheCount) { EXPECT_EQ(scan(range(3), zero(), sums())->cardinality(), 3); }

TEST(Scan, RefusesWhatIsNotAPairOrHasAnotherState) {
  const auto refused = [](const StructurePtr& out) {
    const auto f = fn(out, [](const Values& in) -> Result<Values> { return in; });
    const auto made = try_node("scan", {{"initial_state", zero()}, {"scan_func", f}}, {range(3)});
    if (made.ok()) return std::string();
    EXPECT_EQ(made.error().info().type, "TypeError");
    return std::string(made.error().message());
  };
  EXPECT_NE(refused(i64_spec()).find("should return a pair"), std::string::npos);
  EXPECT_NE(refused(Structure::tuple({i64_spec(), i64_spec(), i64_spec()})).find("a pair"),
            std::string::npos);
  EXPECT_NE(refused(pair_of(Structure::tensor(DType::kInt32, {}), i64_spec()))
                .find("Expected <dtype: 'int64'>, got <dtype: 'int32'>."),
            std::string::npos);
  EXPECT_NE(refused(pair_of(pair_of(i64_spec(), i64_spec()), i64_spec())).find("must match"),
            std::string::npos);
}

}  // namespace
}  // namespace spillway::testing
