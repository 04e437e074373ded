#include "spillway/pipeline/row_gatherer.h"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <string>
#include <utility>

#include "spillway/testing/op_call.h"

namespace spillway {
namespace {

using testing::op_account;

constexpr std::int64_t kItems = 8192;  // of a row: large enough for a place

const std::vector<graph::Spec>& row_spec() {
  static const auto& spec = *new std::vector<graph::Spec>{{DType::kInt32, Shape({kItems})}};
  return spec;
}

void fill(const Tensor& block, std::int32_t value) {
  auto* items = reinterpret_cast<std::int32_t*>(const_cast<std::byte*>(block.data()));
  std::fill_n(items, block.count(), value);
}

Tensor elsewhere(std::int64_t rows, std::int32_t value) {
  const Tensor block = make_tensor(op_account(), DType::kInt32, Shape({rows, kItems})).value();
  fill(block, value);
  return block;
}

Chunk chunk_of(const Tensor& block) {
  const auto structure = Structure::tensor(DType::kInt32, Shape({kItems}));
  std::vector<Column> columns;
  columns.emplace_back(block);
  return {structure, block.shape()[0], std::move(columns), Origins()};
}

// The first item of each row of a finished batch.
std::vector<std::int32_t> values(const Tensor& batch) {
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < batch.shape()[0]; ++i) {
    const Tensor row = batch.row(i);
    const auto* items = reinterpret_cast<const std::int32_t*>(row.data());
    EXPECT_EQ(std::count(items, items + kItems, items[0]), kItems);
    out.push_back(items[0]);
  }
  return out;
}

TEST(RowGatherer, rows_made_in_their_places_are_not_copied) {
  RowGatherer batch(op_account(), 3, -1);
  const std::byte* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    std::vector<Tensor> places = batch.claim(row_spec(), 1);
    ASSERT_EQ(places.size(), 1);
    if (i == 0) first = places[0].data();
    fill(places[0], i);
    ASSERT_TRUE(batch.add(chunk_of(places[0])).ok());
  }
  EXPECT_TRUE(batch.claim(row_spec(), 1).empty());
  const Row row = batch.finish().value();
  EXPECT_EQ(row.values[0].data(), first);
  EXPECT_EQ(values(row.values[0]), (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(RowGatherer, places_follow_each_other_while_they_are_held) {
  RowGatherer batch(op_account(), 4, -1);
  const std::vector<Tensor> a = batch.claim(row_spec(), 1);
  const std::vector<Tensor> b = batch.claim(row_spec(), 2);
  fill(a[0], 1);
  fill(b[0], 2);
  ASSERT_TRUE(batch.add(chunk_of(a[0])).ok());
  ASSERT_TRUE(batch.add(chunk_of(b[0])).ok());
  EXPECT_EQ(values(batch.finish().value().values[0]), (std::vector<std::int32_t>{1, 2, 2}));
}

TEST(RowGatherer, a_place_given_up_is_handed_out_again) {
  RowGatherer batch(op_account(), 4, -1);
  const std::byte* first = batch.claim(row_spec(), 2)[0].data();
  const std::vector<Tensor> again = batch.claim(row_spec(), 1);
  EXPECT_EQ(again[0].data(), first);
}

TEST(RowGatherer, what_is_still_held_is_never_overwritten) {
  RowGatherer batch(op_account(), 4, -1);
  const std::vector<Tensor> held = batch.claim(row_spec(), 1);
  fill(held[0], 7);
  ASSERT_TRUE(batch.add(chunk_of(elsewhere(1, 1))).ok());  // not the row that was to go there
  EXPECT_EQ(values(held[0]), std::vector<std::int32_t>{7});
  ASSERT_TRUE(batch.add(chunk_of(elsewhere(2, 2))).ok());
  EXPECT_EQ(values(held[0]), std::vector<std::int32_t>{7});
  EXPECT_EQ(values(batch.finish().value().values[0]), (std::vector<std::int32_t>{1, 2, 2}));
}

TEST(RowGatherer, rows_of_another_shape_than_the_places_are_taken_as_they_come) {
  RowGatherer batch(op_account(), 2, -1);
  ASSERT_FALSE(batch.claim(row_spec(), 1).empty());
  const Tensor other = make_tensor(op_account(), DType::kInt32, Shape({1, 3})).value();
  fill(other, 5);
  ASSERT_TRUE(batch.add(chunk_of(other)).ok());
  EXPECT_EQ(batch.mismatch(), nullptr);
  EXPECT_EQ(batch.finish().value().values[0].shape(), Shape({1, 3}));
}

TEST(RowGatherer, small_rows_whole_batches_and_strings_have_no_places) {
  const std::vector<graph::Spec> small = {{DType::kInt32, Shape({3})}};
  const std::vector<graph::Spec> text = {{DType::kString, Shape({kItems})}};
  EXPECT_TRUE(RowGatherer(op_account(), 4, -1).claim(small, 1).empty());
  EXPECT_TRUE(RowGatherer(op_account(), 4, -1).claim(row_spec(), 4).empty());
  EXPECT_TRUE(RowGatherer(op_account(), 4, 2).claim(row_spec(), 2).empty());
  EXPECT_TRUE(RowGatherer(op_account(), 4, -1).claim(text, 1).empty());
}

// A row of its own, in memory of its own.
Chunk row_of(const AccountPtr& account, std::int64_t items, std::int32_t value) {
  Tensor row = make_tensor(account, DType::kInt32, Shape({1, items})).value();
  std::fill_n(reinterpret_cast<std::int32_t*>(row.mutable_data()), items, value);
  std::vector<Column> columns;
  columns.emplace_back(std::move(row));
  return {Structure::tensor(DType::kInt32, Shape({items})), 1, std::move(columns), Origins()};
}

// All rows are made ahead, nothing is left for the batch but the place of one.
TEST(RowGatherer, rows_that_were_made_ahead_move_into_the_batch) {
  constexpr std::int64_t kRows = 16;
  constexpr std::int64_t kRowItems = 64 * 1024;  // 256 KiB
  const std::size_t row = kRowItems * sizeof(std::int32_t);
  Budget budget((kRows + 1) * row);
  const AccountPtr map = budget.open_account("map");
  for (const std::int64_t likely : {kRows, std::int64_t{-1}}) {
    std::deque<Chunk> made;
    for (int i = 0; i < kRows; ++i) made.push_back(row_of(map, kRowItems, i));
    RowGatherer batch(budget.open_account("batch"), kRows, likely);
    while (!made.empty()) {
      const Chunk next = std::exchange(made.front(), Chunk());
      made.pop_front();
      ASSERT_TRUE(batch.add(next).ok()) << made.size();
    }
    const Row whole = batch.finish().value();
    EXPECT_EQ(whole.values[0].shape(), Shape({kRows, kRowItems}));
    EXPECT_EQ(budget.used(), kRows * row);
    for (int i = 0; i < kRows; ++i) {
      EXPECT_EQ(whole.values[0].row(i).as<std::int32_t>()[kRowItems - 1], i);
    }
  }
}

// A batch size that means "everything": what is filled is all that it costs.
TEST(RowGatherer, a_batch_of_everything_costs_its_rows) {
  constexpr std::int64_t kRowItems = 64 * 1024;
  Budget budget(8 * kRowItems * sizeof(std::int32_t));
  const AccountPtr account = budget.open_account("batch");
  RowGatherer batch(account, std::int64_t{1} << 24, -1);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(batch.add(row_of(account, kRowItems, i)).ok());
  const Row whole = batch.finish().value();
  EXPECT_EQ(whole.values[0].shape(), Shape({5, kRowItems}));
  EXPECT_TRUE(whole.values[0].owns_whole_buffer());
  EXPECT_EQ(budget.used(), 5 * kRowItems * sizeof(std::int32_t));
}

// Strings have no size before they come: they are joined at the end, and go one by one.
TEST(RowGatherer, large_strings_move_into_the_batch) {
  constexpr std::int64_t kRows = 16;
  const std::string text(256 * 1024, 'x');
  Budget budget((kRows + 2) * 320 * 1024);
  const AccountPtr account = budget.open_account("batch");
  RowGatherer batch(account, kRows, kRows);
  const auto structure = Structure::tensor(DType::kString, Shape());
  for (int i = 0; i < kRows; ++i) {
    const std::string one = text + std::to_string(i);
    const std::string_view items[] = {one};
    std::vector<Column> columns;
    columns.emplace_back(make_strings(account, Shape({1}), items).value());
    ASSERT_TRUE(batch.add(Chunk(structure, 1, std::move(columns), Origins())).ok());
  }
  const auto whole = batch.finish();
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  for (int i = 0; i < kRows; ++i) {
    EXPECT_EQ(whole.value().values[0].string_at(i), text + std::to_string(i));
  }
}

}  // namespace
}  // namespace spillway
