#include "spillway/pipeline/access.h"

#include <gtest/gtest.h>

#include <thread>

#include "spillway/base/bytes.h"
#include "spillway/testing/pipelines.h"

namespace spillway::testing {
namespace {

NodePtr even(NodePtr input) {
  return node("filter", {{"predicate", predicate([](std::int64_t x) { return x % 2 == 0; })}},
              {std::move(input)});
}

Status refusal(const NodePtr& node) {
  auto access = Access::open(node, {});
  EXPECT_FALSE(access.ok());
  return access.ok() ? Status() : access.error();
}

TEST(Access, RefusesWhatCanOnlyBeReadInOrderWithItsStageAndLine) {
  const Status why = refusal(node("prefetch", {}, {even(range(4))}));
  EXPECT_EQ(why.code(), Code::kUnimplemented);
  EXPECT_EQ(why.info().type, "TypeError");
  EXPECT_EQ(why.info().stage, "filter#1");
  EXPECT_EQ(why.info().line, "test line");
}

TEST(Access, RefusesWhatHasNoNumberOfElements) {
  EXPECT_EQ(refusal(node("repeat", {}, {range(3)})).code(), Code::kFailedPrecondition);
  EXPECT_EQ(refusal(node("shuffle", {{"buffer_size", std::int64_t{3}}}, {even(range(4))})).code(),
            Code::kFailedPrecondition);
}

TEST(Access, RefusesAStageThatLeavesOutWhatFails) {
  const auto same = scalar_fn([](std::int64_t x) -> Result<std::int64_t> { return x; });
  const Status why =
      refusal(node("map", {{"map_func", same}, {"on_error", std::string("skip")}}, {range(4)}));
  EXPECT_EQ(why.code(), Code::kUnimplemented);
}

TEST(Access, SaysWhichIndexIsNone) {
  auto access = Access::open(batches_of(4, range(10)), {});
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(access.value()->size(), 3);
  for (const std::int64_t index : {-1, 3}) {
    const auto row = access.value()->at(index);
    ASSERT_FALSE(row.ok());
    EXPECT_EQ(row.error().info().type, "IndexError");
    EXPECT_EQ(row.error().message(), "Index out of range [0, 3):" + std::to_string(index));
  }
}

TEST(Access, RowsKeepTheirOrigins) {
  auto access = Access::open(node("skip", {{"count", std::int64_t{2}}}, {range(5)}), {});
  ASSERT_TRUE(access.ok());
  auto row = access.value()->at(1);
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row.value().origins().describe(0), "range#0 element 3, epoch 0");
}

TEST(Access, ReservesNothingWhileNobodyAsks) {
  Budget budget(4 * kMiB);
  auto access = Access::open(batches_of(4, large_rows(16)), {}, budget);
  ASSERT_TRUE(access.ok());
  {
    ASSERT_TRUE(access.value()->at(2).ok());
  }
  EXPECT_EQ(budget.used(), 0U);
  EXPECT_EQ(budget.free_pool(), 4 * kMiB);
}

TEST(Access, WithoutRoomSaysSoAndServesTheNextOne) {
  Scarcity scarcity(4 * kMiB);
  auto access = Access::open(batches_of(4, large_rows(16)), {}, scarcity.budget());
  ASSERT_TRUE(access.ok());
  scarcity.leave(100 * kKiB);
  const auto refused = access.value()->at(1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().info().type, "BudgetError");
  scarcity.end();
  EXPECT_TRUE(access.value()->at(1).ok());
}

TEST(Access, ServesSeveralThreadsAtATime) {
  auto access = Access::open(node("cache", {}, {even(range(200))}), {});
  ASSERT_TRUE(access.ok());
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (std::int64_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (std::int64_t i = 99 - first; i >= 0; i -= 4) {
        auto row = access.value()->at(i);
        ASSERT_TRUE(row.ok()) << row.error().message();
        EXPECT_EQ(show(row.value(), 0), std::to_string(2 * i));
      }
    });
  }
}

TEST(Access, OnceStoppedServesNoMore) {
  auto access = Access::open(range(3), {});
  ASSERT_TRUE(access.ok());
  access.value()->request_stop();
  const auto row = access.value()->at(0);
  ASSERT_FALSE(row.ok());
  EXPECT_EQ(row.error().code(), Code::kCancelled);
}

}  // namespace
}  // namespace spillway::testing
