#include <gtest/gtest.h>

#include "spillway/pipeline/access.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr cat(NodePtr a, NodePtr b) { return node("concatenate", {}, {std::move(a), std::move(b)}); }

NodePtr vectors(std::vector<std::int64_t> values) {
  return node(
      "from_tensors",
      {{"tensors", element(i64_spec({static_cast<std::int64_t>(values.size())}), {i64s(values)})}});
}

TEST(Concatenate, GoesOnWithTheOtherDataset) {
  check_operator(
      {.build = [] { return cat(range(2), range(3)); }, .expect = {"0", "1", "0", "1", "2"}});
  check_operator({.build = [] { return cat(range(0), range(1)); }, .expect = {"0"}});
  check_operator({.build = [] { return cat(range(1), range(0)); }, .expect = {"0"}});
}

TEST(Concatenate, HandsOutErrorsOfBothInTheirPlaces) {
  check_operator({.build = [] { return cat(failing_range(3, 2), failing_range(2, 0)); },
                  .expect = {"0", "1", "!DATA_LOSS", "!DATA_LOSS", "1"}});
}

TEST(Concatenate, RelaxesShapesToWhatAcceptsBoth) {
  const NodePtr joined = cat(vectors({1, 2}), vectors({3}));
  EXPECT_EQ(joined->structure()->shape(), Shape{kUnknownDim});
  check_operator(
      {.build = [] { return cat(vectors({1, 2}), vectors({3})); }, .expect = {"[1 2]", "[3]"}});
  EXPECT_FALSE(cat(vectors({1, 2}), range(1))->structure()->shape().has_rank());
}

TEST(Concatenate, ReordersAcrossBothInRandomAccess) {
  const Opened opened = open(cat(range(3), range(3)));
  const OpenContext context(opened.run->stages().back(), 0, Origin());
  auto indexed = context.node().op().index(context);
  ASSERT_TRUE(indexed.ok());
  const std::vector<std::int64_t> indices{4, 0, 5, 2};
  const auto rows = indexed.value()->at(indices);
  ASSERT_TRUE(rows.ok());
  std::string got;
  for (std::int64_t i = 0; i < 4; ++i) got += show(rows.value(), i);
  EXPECT_EQ(got, "1022");
}

TEST(Concatenate, RefusesOtherTypesAndStructures) {
  const NodePtr ints = node("range", {{"start", std::int64_t{0}},
                                      {"stop", std::int64_t{2}},
                                      {"output_type", std::string("int32")}});
  for (const NodePtr& other : {ints, node("enumerate", {}, {range(2)})}) {
    const auto made = try_node("concatenate", {}, {range(2), other});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().info().type, "TypeError");
    EXPECT_TRUE(made.error().message().starts_with("Incompatible dataset elements:"));
  }
}

TEST(Concatenate, IsInfiniteWhenEitherIsAndUnknownWhenEitherIs) {
  const NodePtr forever = node("repeat", {}, {range(2)});
  const NodePtr unknown =
      node("filter", {{"predicate", predicate([](std::int64_t) { return true; })}}, {range(3)});
  EXPECT_EQ(cat(forever, unknown)->cardinality(), kInfinite);
  EXPECT_EQ(cat(unknown, forever)->cardinality(), kInfinite);
  EXPECT_EQ(cat(unknown, range(1))->cardinality(), kUnknownCount);
}

}  // namespace
}  // namespace spillway::testing
