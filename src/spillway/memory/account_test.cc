#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "spillway/memory/activity.h"
#include "spillway/memory/budget.h"

namespace spillway {
namespace {

TEST(Account, ThePeakStaysWhenTheBytesAreGone) {
  Budget budget(1000);
  const AccountPtr account = budget.open_account("one");
  EXPECT_EQ(account->peak(), 0U);
  {
    auto first = account->try_reserve(300);
    auto second = account->try_reserve(400);
    ASSERT_TRUE(first && second);
  }
  auto third = account->try_reserve(100);
  EXPECT_EQ(account->peak(), 700U);
}

TEST(Account, AParentsPeakIsOfWhatItsChildrenHeldTogether) {
  Budget budget(1000);
  const AccountPtr parent = budget.open_account("pipeline");
  const AccountPtr child = budget.open_account("stage", "", parent);
  const AccountPtr other = budget.open_account("stage", "", parent);
  auto a = child->try_reserve(100);
  auto b = other->try_reserve(200);
  EXPECT_EQ(parent->peak(), 300U);
  EXPECT_EQ(child->peak(), 100U);
}

TEST(Account, OnlyWhoWaitedHasWaited) {
  Budget budget(1000);
  const AccountPtr holder = budget.open_account("holder");
  const AccountPtr waiter = budget.open_account("waiter");
  auto held = holder->try_reserve(1000);
  ASSERT_TRUE(held);
  std::atomic<bool> asked{false};
  const auto registration = budget.on_pressure(ReclaimOrder::kSpill, [&](std::size_t) {
    asked = true;
    asked.notify_all();
    return std::size_t{0};
  });
  const Working working(budget);  // somebody will release: nobody is refused
  std::thread thread([&] {
    const Working here(budget);
    EXPECT_TRUE(waiter->reserve(500).ok());
  });
  asked.wait(false);
  held.reset();
  thread.join();
  EXPECT_GT(waiter->waited_ns(), 0);
  EXPECT_EQ(holder->waited_ns(), 0);
}

}  // namespace
}  // namespace spillway
