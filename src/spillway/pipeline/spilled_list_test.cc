#include "spillway/pipeline/spilled_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/shuffle_order.h"
#include "spillway/pipeline/spilled_ring.h"

namespace spillway {
namespace {

struct Item {
  std::int64_t number;
  std::int64_t square;
};

Item item(std::int64_t i) { return {i, i * i}; }

class SpilledLists : public ::testing::TestWithParam<std::size_t> {
 protected:
  Budget budget_{GetParam()};
  AccountPtr account_ = budget_.open_account("list");
};

// 16 MiB of items: all in memory, a part of them, none but the least.
INSTANTIATE_TEST_SUITE_P(Limits, SpilledLists, ::testing::Values(64 * kMiB, 4 * kMiB, 64 * kKiB));

TEST_P(SpilledLists, are_read_and_written_anywhere) {
  constexpr std::int64_t kItems = 1'000'000;
  SpilledList<Item> list(account_, budget_, nullptr);
  for (std::int64_t i = 0; i < kItems; ++i) ASSERT_TRUE(list.append(item(i)).ok());
  const std::size_t most = std::max<std::size_t>(GetParam(), 5 * ListPages::kPage);
  EXPECT_LE(budget_.used(), most);
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    const auto at = static_cast<std::int64_t>(random() % kItems);
    EXPECT_EQ(list.read(at).value().square, at * at);
    ASSERT_TRUE(list.write(at, {-at, at * at}).ok());
  }
  std::mt19937_64 again(7);
  for (int i = 0; i < 500; ++i) {
    const auto at = static_cast<std::int64_t>(again() % kItems);
    EXPECT_EQ(list.read(at).value().number, -at);
  }
  std::int64_t next = 12'345;
  ASSERT_TRUE(list.each(next,
                        [&](std::int64_t at, const Item& found) {
                          EXPECT_EQ(at, next);
                          EXPECT_EQ(found.square, at * at);
                          return ++next < kItems;
                        })
                  .ok());
  EXPECT_EQ(next, kItems);
  EXPECT_LE(budget_.used(), most);
  list.forget_before(kItems - 10);
  EXPECT_EQ(list.size(), 10);
  EXPECT_EQ(list.read(kItems - 1).value().square, (kItems - 1) * (kItems - 1));
  list.clear();
  ASSERT_TRUE(list.append(item(5)).ok());
  EXPECT_EQ(list.read(kItems).value().number, 5);
}

TEST_P(SpilledLists, a_ring_hands_out_what_one_in_memory_does) {
  constexpr std::int64_t kItems = 30'000;
  constexpr std::int64_t kMost = 12'345;
  Ring<std::int64_t> expected(kMost);
  SpilledRing<std::int64_t> ring(kMost, account_, budget_, nullptr);
  PhiloxStream first(3, 4);
  PhiloxStream second(3, 4);
  for (std::int64_t i = 0; i < kItems; ++i) {
    if (ring.full()) {
      ASSERT_TRUE(expected.full());
      ASSERT_EQ(ring.pop(second).value(), expected.pop(first));
    }
    expected.push(i);
    ASSERT_TRUE(ring.push(i).ok());
  }
  while (expected.size() > 0) ASSERT_EQ(ring.pop(second).value(), expected.pop(first));
  EXPECT_EQ(ring.size(), 0);
}

TEST(SpilledList, gives_its_pages_to_whoever_needs_them) {
  Budget budget(16 * kMiB);
  SpilledList<std::int64_t> list(budget.open_account("list"), budget, nullptr);
  for (std::int64_t i = 0; i < 1'000'000; ++i) ASSERT_TRUE(list.append(i).ok());
  ASSERT_GT(budget.used(), 7 * kMiB);
  auto needed = budget.open_account("other")->reserve(15 * kMiB);
  ASSERT_TRUE(needed.ok());
  EXPECT_EQ(list.read(0).value(), 0);
  EXPECT_EQ(list.read(999'999).value(), 999'999);
}

TEST(SpilledList, a_short_one_costs_little) {
  Budget budget(16 * kMiB);
  SpilledList<std::int64_t> list(budget.open_account("list"), budget, nullptr);
  for (std::int64_t i = 0; i < 10; ++i) ASSERT_TRUE(list.append(i).ok());
  EXPECT_LE(budget.used(), kKiB);
  list.pop_back();
  EXPECT_EQ(list.size(), 9);
}

TEST(LongList, is_one_list_beyond_its_vector) {
  Budget budget(512 * kKiB);
  LongList<std::int64_t> list(budget.open_account("list"), budget, nullptr);
  constexpr std::int64_t kItems = 300'000;
  for (std::int64_t i = 0; i < kItems; ++i) ASSERT_TRUE(list.append(i).ok());
  EXPECT_EQ(list.size(), kItems);
  EXPECT_LE(budget.used(), 512 * kKiB);
  std::int64_t next = 0;
  ASSERT_TRUE(list.each([&](std::int64_t item) { EXPECT_EQ(item, next++); }).ok());
  EXPECT_EQ(next, kItems);
  list.pop_back();
  EXPECT_EQ(list.size(), kItems - 1);
  EXPECT_EQ(list.read(kItems - 2).value(), kItems - 2);
}

}  // namespace
}  // namespace spillway
