#include "spillway/base/few.h"

#include <gtest/gtest.h>

#include <memory>

namespace spillway {
namespace {

TEST(Few, KeepsWhatIsPutInInsideAndBeyondItsOwnRoom) {
  const auto item = std::make_shared<int>(7);
  for (const std::size_t most : {0, 1, 2, 3, 100}) {
    {
      Few<std::shared_ptr<int>, 2> few(most);
      EXPECT_TRUE(few.empty());
      for (std::size_t i = 0; i < most; ++i) few.emplace_back(item);
      EXPECT_EQ(few.size(), most);
      for (const std::shared_ptr<int>& each : std::span<const std::shared_ptr<int>>(few)) {
        EXPECT_EQ(each, item);
      }
      EXPECT_EQ(item.use_count(), static_cast<long>(most) + 1);
    }
    EXPECT_EQ(item.use_count(), 1);
  }
}

}  // namespace
}  // namespace spillway
