#include "spillway/pipeline/key_sizes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace spillway {
namespace {

TEST(KeySizes, KnowsEveryKeyAndChargesWhatItHolds) {
  Budget budget(64 << 20);
  {
    KeySizes sizes(budget.open_account("sizes"));
    EXPECT_EQ(sizes.find(0), 0);
    EXPECT_EQ(budget.used(), 0);
    for (std::int64_t key = -5000; key < 5000; ++key) sizes.set(key * 3, key + 6000);
    sizes.set(std::numeric_limits<std::int64_t>::min(), 1);
    sizes.set(0, 7);
    EXPECT_EQ(sizes.count(), 10'001);
    EXPECT_EQ(sizes.find(0), 7);
    EXPECT_EQ(sizes.find(1), 0);
    EXPECT_EQ(sizes.find(-15'000), 1000);
    EXPECT_EQ(sizes.find(std::numeric_limits<std::int64_t>::min()), 1);
    EXPECT_GE(budget.used(), 10'001 * 16);
    const auto all = sizes.all();
    EXPECT_EQ(all.size(), sizes.count());
    EXPECT_EQ(all[1].first, -15'000);
    EXPECT_EQ(all.back().first, 14'997);
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace spillway
