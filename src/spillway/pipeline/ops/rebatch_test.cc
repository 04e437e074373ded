#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr rebatch(std::vector<std::int64_t> sizes, NodePtr input, bool drop = false) {
  return node("rebatch", {{"batch_size", ints(std::move(sizes))}, {"drop_remainder", drop}},
              {std::move(input)});
}

TEST(Rebatch, CutsAndJoinsBatches) {
  check_operator({.build = [] { return rebatch({2}, batches_of(4, range(8))); },
                  .expect = {"[0 1]", "[2 3]", "[4 5]", "[6 7]"}});
  check_operator({.build = [] { return rebatch({3}, batches_of(4, range(8))); },
                  .expect = {"[0 1 2]", "[3 4 5]", "[6 7]"}});
  check_operator({.build = [] { return rebatch({8}, batches_of(4, range(8))); },
                  .expect = {"[0 1 2 3 4 5 6 7]"}});
}

TEST(Rebatch, DropsARemainderWhenAsked) {
  check_operator({.build = [] { return rebatch({3}, batches_of(4, range(8)), true); },
                  .expect = {"[0 1 2]", "[3 4 5]"}});
}

TEST(Rebatch, TakesSeveralSizesInTurns) {
  check_operator({.build = [] { return rebatch({2, 1}, batches_of(4, range(8))); },
                  .expect = {"[0 1]", "[2]", "[3 4]", "[5]", "[6 7]"}});
}

TEST(Rebatch, MakesAnEmptyBatchWithoutReading) {
  check_operator({.build = [] { return rebatch({0, 1}, batches_of(4, range(2))); },
                  .expect = {"[]", "[0]", "[]", "[1]", "[]"}});
  check_operator({.build = [] { return rebatch({2, 3, 0}, batches_of(4, range(8))); },
                  .expect = {"[0 1]", "[2 3 4]", "[]", "[5 6]", "[7]"}});
  check_operator({.build = [] { return rebatch({0, 2}, batches_of(4, range(3)), true); },
                  .expect = {"[]", "[0 1]", "[]"}});
}

TEST(Rebatch, PassesOverElementsWithoutRows) {
  check_operator(
      {.build = [] { return rebatch({2}, vectors_of({1, 0, 2, 0})); }, .expect = {"[1 2]", "[2]"}});
}

TEST(Rebatch, DropsTheGatheredRowsWithAnErrorOfTheInput) {
  check_operator({.build = [] { return rebatch({3}, batches_of(2, failing_range(7, 3))); },
                  .expect = {"!DATA_LOSS", "[4 5 6]"}});
  check_operator({.build = [] { return rebatch({1}, batches_of(2, failing_range(7, 3))); },
                  .expect = {"[0]", "[1]", "!DATA_LOSS", "[4]", "[5]", "[6]"}});
}

TEST(Rebatch, FailsWhenRowsOfABatchHaveDifferentShapes) {
  check_operator({.build = [] { return rebatch({2}, batches_of(1, vectors_of({2, 3, 4}))); },
                  .expect = {"!FAILED_PRECONDITION", "[[4 4 4 4]]"}});
}

TEST(Rebatch, KnowsItsSizeWhenNoRemainderIsPossible) {
  const auto dim = [](std::vector<std::int64_t> sizes, bool static_input, bool drop) {
    return rebatch(std::move(sizes), batches_of(4, range(8), static_input), drop)
        ->structure()
        ->shape()[0];
  };
  EXPECT_EQ(dim({2}, true, false), 2);
  EXPECT_EQ(dim({2}, false, false), kUnknownDim);
  EXPECT_EQ(dim({3}, true, false), kUnknownDim);
  EXPECT_EQ(dim({8}, true, false), kUnknownDim);
  EXPECT_EQ(dim({3}, true, true), 3);
  EXPECT_EQ(dim({2, 2}, false, true), 2);
  EXPECT_EQ(dim({1, 3}, true, true), kUnknownDim);
}

TEST(Rebatch, RefusesScalarsAndNegativeSizes) {
  EXPECT_EQ(try_node("rebatch", {{"batch_size", ints({2})}}, {range(3)}).error().info().type,
            "ValueError");
  EXPECT_FALSE(try_node("rebatch", {{"batch_size", ints({-1})}}, {batches_of(2, range(3))}).ok());
  EXPECT_FALSE(try_node("rebatch", {{"batch_size", ints({})}}, {batches_of(2, range(3))}).ok());
}

}  // namespace
}  // namespace spillway::testing
