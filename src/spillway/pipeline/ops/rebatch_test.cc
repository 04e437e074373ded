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

NodePtr batch(std::int64_t size, NodePtr input, bool drop = false) {
  return node("batch", {{"batch_size", size}, {"drop_remainder", drop}}, {std::move(input)});
}
NodePtr rebatch(std::vector<std::int64_t> sizes, NodePtr input, bool drop = false) {
  return node("rebatch", {{"batch_size", ints(std::move(sizes))}, {"drop_remainder", drop}},
              {std::move(input)});
}

TEST(Rebatch, CutsAndJoinsBatches) {
  check_operator({.build = [] { return rebatch({2}, batch(4, range(8))); },
                  .expect = {"[0 1]", "[2 3]", "[4 5]", "[6 7]"}});
  check_operator({.build = [] { return rebatch({3}, batch(4, range(8))); },
                  .expect = {"[0 1 2]", "[3 4 5]", "[6 7]"}});
  check_operator(
      {.build = [] { return rebatch({8}, batch(4, range(8))); }, .expect = {"[0 1 2 3 4 5 6 7]"}});
}

TEST(Rebatch, DropsARemainderWhenAsked) {
  check_operator({.build = [] { return rebatch({3}, batch(4, range(8)), true); },
                  .expect = {"[0 1 2]", "[3 4 5]"}});
}

TEST(Rebatch, TakesSeveralSizesInTurns) {
  check_operator({.build = [] { return rebatch({2, 1}, batch(4, range(8))); },
                  .expect = {"[0 1]", "[2]", "[3 4]", "[5]", "[6 7]"}});
}

TEST(Rebatch, MakesAnEmptyBatchWithoutReading) {
  check_operator({.build = [] { return rebatch({0, 1}, batch(4, range(2))); },
                  .expect = {"[]", "[0]", "[]", "[1]", "[]"}});
  check_operator({.build = [] { return rebatch({2, 3, 0}, batch(4, range(8))); },
                  .expect = {"[0 1]", "[2 3 4]", "[]", "[5 6]", "[7]"}});
  check_operator({.build = [] { return rebatch({0, 2}, batch(4, range(3)), true); },
                  .expect = {"[]", "[0 1]", "[]"}});
}

TEST(Rebatch, PassesOverElementsWithoutRows) {
  check_operator(
      {.build = [] { return rebatch({2}, vectors({1, 0, 2, 0})); }, .expect = {"[1 2]", "[2]"}});
}

TEST(Rebatch, DropsTheGatheredRowsWithAnErrorOfTheInput) {
  check_operator({.build = [] { return rebatch({3}, batch(2, failing(7, 3))); },
                  .expect = {"!DATA_LOSS", "[4 5 6]"}});
  check_operator({.build = [] { return rebatch({1}, batch(2, failing(7, 3))); },
                  .expect = {"[0]", "[1]", "!DATA_LOSS", "[4]", "[5]", "[6]"}});
}

TEST(Rebatch, FailsWhenRowsOfABatchHaveDifferentShapes) {
  check_operator({.build = [] { return rebatch({2}, batch(1, vectors({2, 3, 4}))); },
                  .expect = {"!FAILED_PRECONDITION", "[[4 4 4 4]]"}});
}

TEST(Rebatch, KnowsItsSizeWhenNoRemainderIsPossible) {
  const auto dim = [](std::vector<std::int64_t> sizes, bool static_input, bool drop) {
    return rebatch(std::move(sizes), batch(4, range(8), static_input), drop)
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
  EXPECT_FALSE(try_node("rebatch", {{"batch_size", ints({-1})}}, {batch(2, range(3))}).ok());
  EXPECT_FALSE(try_node("rebatch", {{"batch_size", ints({})}}, {batch(2, range(3))}).ok());
}

}  // namespace
}  // namespace spillway::testing
