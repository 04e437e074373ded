#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr slices(ElementPtr tensors) {
  return node("from_tensor_slices", {{"tensors", std::move(tensors)}});
}
ElementPtr pair_of(std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
  const auto spec = [](const auto& v) { return i64_spec({static_cast<std::int64_t>(v.size())}); };
  return element(Structure::tuple({spec(a), spec(b)}), {i64s(a), i64s(b)});
}

TEST(FromTensorSlices, IsOneElementForEachRow) {
  check_operator({.build = [] { return slices(element(i64_spec({3}), {i64s({5, 6, 7})})); },
                  .expect = {"5", "6", "7"}});
  check_operator(
      {.build = [] { return slices(pair_of({1, 2}, {3, 4})); }, .expect = {"(1, 3)", "(2, 4)"}});
  check_operator(
      {.build = [] { return slices(element(i64_spec({0}), {i64s({})})); }, .expect = {}});
}

TEST(FromTensorSlices, SlicesTheFirstDimensionOnly) {
  const auto matrix = [] {
    return element(i64_spec({2, 2}), {i64s({1, 2, 3, 4}).reshaped({2, 2})});
  };
  check_operator({.build = [=] { return slices(matrix()); }, .expect = {"[1 2]", "[3 4]"}});
  EXPECT_EQ(slices(matrix())->structure()->shape(), Shape{2});
}

TEST(FromTensorSlices, HandsOutViews) {
  const ElementPtr tensors = element(i64_spec({3}), {i64s({5, 6, 7})});
  const Opened opened = open(slices(tensors));
  const Next next = opened.it->next({3});
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next.value()->columns()[0].block().data(), tensors->values[0].data());
}

TEST(FromTensorSlices, BoundsABlockByTheBytesDemanded) {
  const Opened opened =
      open(slices(element(i64_spec({100}), {i64s(std::vector<std::int64_t>(100))})));
  const Next next = opened.it->next({100, 80});
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next.value()->rows(), 10);
}

TEST(FromTensorSlices, RefusesWhatHasNoCommonFirstDimension) {
  const auto text = [](ElementPtr tensors) {
    auto made = try_node("from_tensor_slices", {{"tensors", std::move(tensors)}});
    EXPECT_FALSE(made.ok());
    EXPECT_EQ(made.error().info().type, "ValueError");
    return std::string(made.error().message());
  };
  EXPECT_EQ(text(pair_of({1, 2}, {1, 2, 3})), "Dimensions 2 and 3 are not compatible");
  EXPECT_EQ(text(element(i64_spec(), {i64(1)})),
            "Unbatching a tensor is only supported for rank >= 1");
  EXPECT_EQ(text(element(Structure::tuple({}), {})),
            "Invalid `element`. `element` should not be empty.");
}

}  // namespace
}  // namespace spillway::testing
