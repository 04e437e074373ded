#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr unbatch(NodePtr input) { return node("unbatch", {}, {std::move(input)}); }

TEST(Unbatch, TakesElementsApart) {
  check_operator({.build = [] { return unbatch(batches_of(2, range(5))); },
                  .expect = {"0", "1", "2", "3", "4"}});
  check_operator({.build = [] { return unbatch(batches_of(3, node("enumerate", {}, {range(4)}))); },
                  .expect = {"(0, 0)", "(1, 1)", "(2, 2)", "(3, 3)"}});
}

TEST(Unbatch, PassesOverElementsWithoutRows) {
  check_operator({.build = [] { return unbatch(vectors_of({1, 0, 2, 0, 0, 1, 0})); },
                  .expect = {"1", "2", "2", "1"}});
}

TEST(Unbatch, TakesOneDimensionAwayAtATime) {
  check_operator({.build = [] { return unbatch(batches_of(2, batches_of(2, range(6)))); },
                  .expect = {"[0 1]", "[2 3]", "[4 5]"}});
}

TEST(Unbatch, GoesOnAfterAnErrorOfItsInput) {
  check_operator({.build = [] { return unbatch(batches_of(2, failing_range(6, 3))); },
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
  EXPECT_EQ(unbatch(batches_of(2, range(10), true))->cardinality(), 10);
  EXPECT_EQ(unbatch(batches_of(3, range(10), true))->cardinality(), 9);
  EXPECT_EQ(unbatch(batches_of(2, range(10)))->cardinality(), kUnknownCount);
  EXPECT_EQ(unbatch(batches_of(2, node("repeat", {}, {range(2)})))->cardinality(), kInfinite);
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

TEST(Unbatch, RandomAccessGoesAcrossElements) {
  check_operator(
      {.build = [] { return batches_of(3, node("unbatch", {}, {batches_of(2, range(7), true)})); },
       .expect = {"[0 1 2]", "[3 4 5]"}});
}

}  // namespace
}  // namespace spillway::testing
