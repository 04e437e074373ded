#include "spillway/pipeline/seen_set.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "spillway/base/bytes.h"
#include "spillway/base/random.h"
#include "spillway/memory/activity.h"

namespace spillway {
namespace {

TEST(SeenSet, KnowsEveryValueItSaw) {
  Budget budget(64 * kMiB);
  SeenSet seen(budget.open_account("seen"), budget, nullptr);
  PhiloxStream random(1, 2);
  std::set<std::string> expected;
  for (int i = 0; i < 50'000; ++i) {
    const std::string value = std::to_string(random.next() % 20'000);
    EXPECT_EQ(seen.add(value).value(), expected.insert(value).second);
  }
  EXPECT_EQ(seen.size(), static_cast<std::int64_t>(expected.size()));
  EXPECT_EQ(seen.runs(), 0U);
}

TEST(SeenSet, SpillsWhatDoesNotFitAndStillKnowsIt) {
  constexpr int kValues = 300'000;  // 4.6 MiB of prints
  Budget budget(kMiB);
  const Consuming consuming(budget);
  const auto account = budget.open_account("seen");
  const auto spilled = std::make_shared<std::atomic<std::int64_t>>(0);
  SeenSet seen(account, budget, spilled);
  for (int i = 0; i < kValues; ++i) ASSERT_TRUE(seen.add(std::to_string(i)).value()) << i;
  for (int i = 0; i < kValues; i += 7) ASSERT_FALSE(seen.add(std::to_string(i)).value()) << i;
  EXPECT_GT(spilled->load(), static_cast<std::int64_t>(3 * kMiB));
  EXPECT_LE(account->held(), kMiB);
  EXPECT_LT(seen.runs(), 8U);
}

TEST(SeenSet, IsRefusedWithATypedErrorWhenNotEvenTheFiltersFit) {
  Budget budget(24 * kKiB);
  const Consuming consuming(budget);
  SeenSet seen(budget.open_account("seen"), budget, nullptr);
  Status refused;
  for (int i = 0; i < 100'000 && refused.ok(); ++i) {
    auto added = seen.add(std::to_string(i));
    if (!added.ok()) refused = added.error();
  }
  EXPECT_EQ(refused.info().type, "BudgetError");
}

TEST(SeenSet, GivesEverythingBack) {
  Budget budget(kMiB);
  const auto account = budget.open_account("seen");
  {
    const Consuming consuming(budget);
    SeenSet seen(account, budget, nullptr);
    for (int i = 0; i < 50'000; ++i) ASSERT_TRUE(seen.add(std::to_string(i)).ok());
  }
  EXPECT_EQ(account->held(), 0U);
}

}  // namespace
}  // namespace spillway
