#include "spillway/pipeline/timeline.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

constexpr std::int64_t kTick = 100;

Timeline::Point holding(std::int64_t bytes) {
  Timeline::Point point;
  point.used = bytes;
  point.stages.resize(3);
  return point;
}

void tick(Timeline& timeline, std::int64_t ticks) {
  for (std::int64_t i = 1; i <= ticks; ++i) {
    if (timeline.due(i * kTick, kTick)) timeline.add(i * kTick, holding(i));
  }
}

TEST(Timeline, KeepsEveryPointOfAShortPass) {
  Budget budget(1 << 20);
  Timeline timeline(budget, 0);
  tick(timeline, 300);
  const auto points = timeline.points();
  ASSERT_EQ(points.size(), 300U);
  EXPECT_EQ(points.front().at_ns, kTick);
  EXPECT_EQ(points.back().at_ns, 300 * kTick);
}

TEST(Timeline, HalvesTheResolutionOfALongPassAndKeepsItsEnds) {
  Budget budget(8 << 20);
  Timeline timeline(budget, 0);
  tick(timeline, 10'000);
  const auto points = timeline.points();
  EXPECT_LE(points.size(), Timeline::kMost);
  EXPECT_GE(points.size(), Timeline::kMost / 4);
  // Evenly, but for the few places where the pace changed.
  const std::int64_t pace = points[1].at_ns - points[0].at_ns;
  EXPECT_GT(pace, kTick);
  std::size_t uneven = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].at_ns - points[i - 1].at_ns != pace) ++uneven;
    EXPECT_LE(points[i].at_ns - points[i - 1].at_ns, pace);
  }
  EXPECT_LE(uneven, 8U);
  EXPECT_GE(points.back().at_ns, (10'000 - 32) * kTick);
}

TEST(Timeline, IsChargedAndGivesBack) {
  Budget budget(1 << 20);
  {
    Timeline timeline(budget, 0);
    tick(timeline, 100);
    EXPECT_GE(budget.used(), 100 * sizeof(Timeline::Point));
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(Timeline, LivesWithFewerPointsWhereThereIsNoRoom) {
  Budget budget(8 << 10);
  Timeline timeline(budget, 0);
  tick(timeline, 1000);
  EXPECT_LE(budget.used(), 8U << 10U);
  EXPECT_GE(timeline.points().size(), 8U);
  EXPECT_GE(timeline.points().back().at_ns, 800 * kTick);
}

TEST(Timeline, KeepsNothingWithoutAnyRoom) {
  Budget budget(64);
  Timeline timeline(budget, 0);
  tick(timeline, 10);
  EXPECT_TRUE(timeline.points().empty());
}

}  // namespace
}  // namespace spillway
