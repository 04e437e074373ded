#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

// range(n) whose element `bad` fails.
NodePtr failing(std::int64_t n, std::int64_t bad) {
  return node("map", {{"map_func", scalar_fn([bad](std::int64_t x) -> Result<std::int64_t> {
                         if (x == bad) return bad_data(Code::kDataLoss, "bad element");
                         return x;
                       })}},
              {range(n)});
}
// One vector for each length; its values are the length.
NodePtr vectors(std::vector<std::int64_t> lengths, Shape spec = {kUnknownDim}) {
  return node("map",
              {{"map_func", fn(i64_spec(std::move(spec)),
                               [lengths](const Values& in) -> Result<Values> {
                                 const auto i = static_cast<std::size_t>(*in[0].as<std::int64_t>());
                                 const auto n = static_cast<std::size_t>(lengths[i]);
                                 return Values{i64s(std::vector<std::int64_t>(n, lengths[i]))};
                               })}},
              {range(static_cast<std::int64_t>(lengths.size()))});
}

NodePtr unbatch(NodePtr input) { return node("unbatch", {}, {std::move(input)}); }
NodePtr batch(std::int64_t size, NodePtr input, bool drop = false) {
  return node("batch", {{"batch_size", size}, {"drop_remainder", drop}}, {std::move(input)});
}

TEST(Unbatch, TakesElementsApart) {
  check_operator(
      {.build = [] { return unbatch(batch(2, range(5))); }, .expect = {"0", "1", "2", "3", "4"}});
  check_operator({.build = [] { return unbatch(batch(3, node("enumerate", {}, {range(4)}))); },
                  .expect = {"(0, 0)", "(1, 1)", "(2, 2)", "(3, 3)"}});
}

TEST(Unbatch, PassesOverElementsWithoutRows) {
  check_operator({.build = [] { return unbatch(vectors({1, 0, 2, 0, 0, 1, 0})); },
                  .expect = {"1", "2", "2", "1"}});
}

TEST(Unbatch, TakesOneDimensionAwayAtATime) {
  check_operator({.build = [] { return unbatch(batch(2, batch(2, range(6)))); },
                  .expect = {"[0 1]", "[2 3]", "[4 5]"}});
}

TEST(Unbatch, GoesOnAfterAnErrorOfItsInput) {
  check_operator({.build = [] { return unbatch(batch(2, failing(6, 3))); },
                  .expect = {"0", "1", "!DATA_LOSS", "4", "5"}});
}

TEST(Unbatch, RefusesAnElementWhoseComponentsDoNotAgree) {
  const auto uneven = [] {
    const StructurePtr pair = Structure::tuple({i64_spec({kUnknownDim}), i64_spec({kUnknownDim})});
    const auto body = [](const Values& in) -> Result<Values> {
      const std::int64_t x = *in[0].as<std::int64_t>();
      return Values{i64s({x, x}), x == 1 ? i64s({x, x, x}) : i64s({x, x})};
    };
    return node("map", {{"map_func", fn(pair, body)}}, {range(3)});
  };
  check_operator({.build = [=] { return unbatch(uneven()); },
                  .expect = {"(0, 0)", "(0, 0)", "!INVALID_ARGUMENT", "(2, 2)", "(2, 2)"}});
}

TEST(Unbatch, KnowsItsLengthWhenTheBatchesDo) {
  EXPECT_EQ(unbatch(batch(2, range(10), true))->cardinality(), 10);
  EXPECT_EQ(unbatch(batch(3, range(10), true))->cardinality(), 9);
  EXPECT_EQ(unbatch(batch(2, range(10)))->cardinality(), kUnknownCount);
  EXPECT_EQ(unbatch(batch(2, node("repeat", {}, {range(2)})))->cardinality(), kInfinite);
}

TEST(Unbatch, RefusesScalarsAndDimensionsThatDiffer) {
  const auto scalars = try_node("unbatch", {}, {range(3)});
  ASSERT_FALSE(scalars.ok());
  EXPECT_EQ(scalars.error().message(), "Cannot unbatch an input with scalar components.");
  const NodePtr uneven =
      node("from_tensors", {{"tensors", element(Structure::tuple({i64_spec({2}), i64_spec({3})}),
                                                {i64s({1, 2}), i64s({1, 2, 3})})}});
  const auto made = try_node("unbatch", {}, {uneven});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().info().type, "ValueError");
  EXPECT_TRUE(made.error().message().ends_with("Encountered both 2 and 3."));
}

}  // namespace
}  // namespace spillway::testing
