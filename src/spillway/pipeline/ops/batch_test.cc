#include <gtest/gtest.h>

#include <limits>

#include "spillway/pipeline/access.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr strings(std::vector<std::string_view> items) {
  static const AccountPtr kAccount = Budget::process().open_account("test");
  const Shape shape{static_cast<std::int64_t>(items.size())};
  return node("from_tensor_slices",
              {{"tensors", element(Structure::tensor(DType::kString, shape),
                                   {make_strings(kAccount, shape, items).value()})}});
}

TEST(Batch, StacksAndKeepsARemainder) {
  check_operator(
      {.build = [] { return batches_of(2, range(5)); }, .expect = {"[0 1]", "[2 3]", "[4]"}});
  check_operator({.build = [] { return batches_of(9, range(2)); }, .expect = {"[0 1]"}});
  check_operator({.build = [] { return batches_of(3, range(0)); }, .expect = {}});
}

TEST(Batch, DropsARemainderWhenAsked) {
  check_operator(
      {.build = [] { return batches_of(2, range(5), true); }, .expect = {"[0 1]", "[2 3]"}});
  check_operator({.build = [] { return batches_of(9, range(2), true); }, .expect = {}});
}

TEST(Batch, KnowsItsSizeOnlyWhenItDropsTheRemainder) {
  EXPECT_EQ(batches_of(2, range(5))->structure()->shape(), Shape{kUnknownDim});
  EXPECT_EQ(batches_of(2, range(5), true)->structure()->shape(), Shape{2});
}

TEST(Batch, TakesABatchSizeThatMeansEverything) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  check_operator({.build = [=] { return batches_of(most, range(4)); }, .expect = {"[0 1 2 3]"}});
  check_operator(
      {.build = [=] { return batches_of(most, failing_range(4, 9)); }, .expect = {"[0 1 2 3]"}});
  check_operator(
      {.build = [=] { return batches_of(most, vectors_of({2, 2})); }, .expect = {"[[2 2] [2 2]]"}});
  const auto unknown = [] {
    return node("filter", {{"predicate", predicate([](std::int64_t x) { return x != 1; })}},
                {failing_range(4, 9)});
  };
  check_operator({.build = [=] { return batches_of(most, unknown()); }, .expect = {"[0 2 3]"}});
}

TEST(Batch, SharesRowsThatLieSideBySide) {
  const Opened opened = open(batches_of(4, range(8)));
  const Next next = opened.it->next({2});
  ASSERT_TRUE(next.ok());
  ASSERT_EQ(next.value()->rows(), 2);
  EXPECT_EQ(next.value()->columns()[0].block().shape(), (Shape{2, 4}));
  EXPECT_EQ(opened.run->stages()[1]->account()->held(), 0U) << "the batch made bytes of its own";
  EXPECT_EQ(next.value()->origins().at(1).ordinal, 4);
  EXPECT_EQ(next.value()->origins().at(1).weight, 4);
}

TEST(Batch, StacksStringsAndBatches) {
  check_operator({.build = [] { return batches_of(2, strings({"a", "bb", ""})); },
                  .expect = {"[\x27"
                             "a\x27 \x27"
                             "bb\x27]",
                             "[\x27\x27]"}});
  check_operator({.build = [] { return batches_of(2, batches_of(2, range(6), true)); },
                  .expect = {"[[0 1] [2 3]]", "[[4 5]]"}});
  check_operator(
      {.build = [] { return batches_of(2, node("enumerate", {}, {strings({"a", "b", "c"})})); },
       .expect = {"([0 1], [\x27"
                  "a\x27 \x27"
                  "b\x27])",
                  "([2], [\x27"
                  "c\x27])"}});
}

TEST(Batch, StacksDatasets) {
  const auto datasets = [] {
    return node("map", {{"map_func", dataset_fn([](std::int64_t x) { return range(x); })}},
                {range(3)});
  };
  check_operator(
      {.build = [=] { return batches_of(2, datasets()); }, .expect = {"[<> <0>]", "[<0 1>]"}});
}

TEST(Batch, DropsTheGatheredRowsWithAnErrorOfTheInput) {
  check_operator({.build = [] { return batches_of(2, failing_range(7, 3)); },
                  .expect = {"[0 1]", "!DATA_LOSS", "[4 5]", "[6]"}});
  const Opened opened = open(batches_of(2, failing_range(7, 3)));
  drain(*opened.it);
  const StageStats& stats = opened.run->stages()[2]->stats();
  EXPECT_EQ(stats.dropped.rows, 1);
  EXPECT_EQ(stats.used.rows, 5);
}

TEST(Batch, RefusesRowsOfDifferentShapesAndGoesOnWithTheNextBatch) {
  check_operator({.build = [] { return batches_of(3, vectors_of({3, 3, 4, 1, 1})); },
                  .expect = {"!INVALID_ARGUMENT", "[[1] [1]]"}});
  check_operator({.build = [] { return batches_of(2, vectors_of({1, 1, 4, 1, 2})); },
                  .expect = {"[[1] [1]]", "!INVALID_ARGUMENT", "[[2 2]]"}});
  const Opened opened = open(batches_of(3, vectors_of({3, 3, 4, 1, 1})));
  const Next next = opened.it->next({});
  ASSERT_FALSE(next.ok());
  const std::string message(next.error().message());
  EXPECT_TRUE(message.starts_with(
      "Cannot batch tensors with different shapes in component 0. First element had shape [3] and "
      "element 2 had shape [4]. Cannot add tensor to the batch: number of elements does not match. "
      "Shapes are: [tensor]: [4], [batch]: [3]\n  batch#2 drops 2 good elements"))
      << message;
  EXPECT_EQ(next.error().info().index, 2);
  EXPECT_EQ(next.error().info().origin, "range#0 element 2, epoch 0");
}

TEST(Batch, EndsQuietlyWhenTheBadBatchIsADroppedRemainder) {
  check_operator({.build = [] { return batches_of(3, vectors_of({1, 2}), true); }, .expect = {}});
}

TEST(Batch, RefusesASizeThatIsNotPositive) {
  for (const std::int64_t size : {0, -1}) {
    const auto made = try_node("batch", {{"batch_size", size}}, {range(3)});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().message(), "Batch size must be greater than zero.");
  }
}

TEST(Batch, ThatFindsNoMemoryLosesNoRowAndGoesOn) {
  check_scarcity([] { return batches_of(4, large_rows(16)); });
}

TEST(Batch, RandomAccessNamesTheRowOfAnotherShape) {
  auto access = Access::open(batches_of(2, vectors_of({1, 1, 2, 3})), {});
  ASSERT_TRUE(access.ok());
  EXPECT_TRUE(access.value()->at(0).ok());
  const auto failed = access.value()->at(1);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().info().index, 3);
}

}  // namespace
}  // namespace spillway::testing
