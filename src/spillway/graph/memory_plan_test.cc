#include "spillway/graph/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace spillway::graph {
namespace {

constexpr Placement kAll[] = {Placement::kBySize, Placement::kByOrder, Placement::kByConflict};

std::vector<Lifetime> random_lifetimes(std::mt19937& random, int count) {
  std::vector<Lifetime> out;
  for (int i = 0; i < count; ++i) {
    const int born = std::uniform_int_distribution(0, count)(random);
    const int length = std::uniform_int_distribution(0, 1 + count / 4)(random);
    out.push_back(
        {std::uniform_int_distribution<std::size_t>(1, 5000)(random) * 64, born, born + length});
  }
  return out;
}

std::size_t sum_of(const std::vector<Lifetime>& buffers) {
  std::size_t sum = 0;
  for (const Lifetime& buffer : buffers) sum += buffer.bytes;
  return sum;
}

void expect_apart(const std::vector<Lifetime>& buffers, const MemoryPlan& plan) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % 64, 0U);
    EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.bytes);
    for (std::size_t j = i + 1; j < buffers.size(); ++j) {
      if (!buffers[i].meets(buffers[j])) continue;
      EXPECT_TRUE(plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                  plan.offsets[j] + buffers[j].bytes <= plan.offsets[i])
          << i << " and " << j << " live at once";
    }
  }
}

TEST(MemoryPlan, NothingThatLivesAtOnceOverlapsAndEveryPlanIsBetweenTheBoundAndTheSum) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto buffers = random_lifetimes(random, 1 + round % 60);
    for (const Placement by : kAll) {
      const MemoryPlan plan = place(buffers, by);
      expect_apart(buffers, plan);
      EXPECT_GE(plan.bytes, most_live(buffers));
      EXPECT_LE(plan.bytes, sum_of(buffers));
    }
  }
}

TEST(MemoryPlan, TheSmallestIsTakenAndEachKindIsTheSmallestSometimes) {
  std::mt19937 random(11);
  int strictly[3] = {0, 0, 0};
  for (int round = 0; round < 400; ++round) {
    const auto buffers = random_lifetimes(random, 24);
    std::size_t bytes[3];
    for (int k = 0; k < 3; ++k) bytes[k] = place(buffers, kAll[k]).bytes;
    EXPECT_EQ(place(buffers).bytes, *std::min_element(bytes, bytes + 3));
    for (int k = 0; k < 3; ++k) {
      strictly[k] += bytes[k] < bytes[(k + 1) % 3] && bytes[k] < bytes[(k + 2) % 3] ? 1 : 0;
    }
  }
  for (const int wins : strictly) EXPECT_GT(wins, 0);
}

TEST(MemoryPlan, AChainNeedsWhatTwoNeighboursNeed) {
  std::vector<Lifetime> chain;
  chain.reserve(50);
  for (int i = 0; i < 50; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(most_live(chain), 2048U);
  EXPECT_EQ(place(chain).bytes, 2048U);
}

TEST(MemoryPlan, NoBuffersNeedNoBytes) { EXPECT_EQ(place(std::vector<Lifetime>{}).bytes, 0U); }

}  // namespace
}  // namespace spillway::graph
