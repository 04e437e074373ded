#include "spillway/guard/pass_seeds.h"

#include <gtest/gtest.h>

#include <set>

namespace spillway {
namespace {

TEST(PassSeeds, AStageHasOneSeedAPassAndDrawsAnotherForTheNext) {
  Budget budget(1 << 20);
  PassSeeds seeds(std::nullopt);
  const AccountPtr first = budget.open_account("map#1");
  const AccountPtr second = budget.open_account("map#1");
  EXPECT_EQ(seeds.of(first), seeds.of(first));
  EXPECT_NE(seeds.of(first), seeds.of(second));
}

TEST(PassSeeds, WithThePipelinesSeedEveryPassOfAStageIsTheSame) {
  Budget budget(1 << 20);
  PassSeeds one(7);
  PassSeeds other(7);
  const AccountPtr first = budget.open_account("map#1");
  const AccountPtr second = budget.open_account("map#1");
  const AccountPtr elsewhere = budget.open_account("map#2");
  EXPECT_EQ(one.of(first), one.of(second));
  EXPECT_EQ(one.of(first), other.of(second));
  EXPECT_NE(one.of(first), one.of(elsewhere));
  EXPECT_NE(one.of(first), PassSeeds(8).of(first));
  EXPECT_NE(one.of(first), PassSeeds(7, 1).of(first));
}

TEST(PassSeeds, WhatStartsAgainInAPassGetsAnother) {
  Budget budget(1 << 20);
  PassSeeds seeds(7);
  PassSeeds again(7);
  const AccountPtr account = budget.open_account("from_generator#0");
  const std::uint64_t first = seeds.next(account);
  EXPECT_NE(first, seeds.next(account));
  EXPECT_EQ(first, again.next(account));
}

TEST(PassSeeds, NeighboursGetUnrelatedSeeds) {
  std::set<std::uint64_t> low;
  for (std::uint64_t i = 0; i < 10'000; ++i) low.insert(mix_seeds(1, i) & 0xFFFFFFU);
  EXPECT_GT(low.size(), 9'900U);
}

}  // namespace
}  // namespace spillway
