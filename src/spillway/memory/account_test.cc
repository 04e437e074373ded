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

// What was made ahead from the pool is, when it is handed on, what the guarantee is for.
TEST(Account, AnElementThatIsHandedOnGivesThePoolItsBytesBack) {
  Budget budget(1000);
  const AccountPtr map = budget.open_account("map");
  ASSERT_TRUE(map->raise_floor(300).ok());
  auto ahead = map->try_reserve(300);
  auto more = map->try_reserve(300);
  ASSERT_TRUE(ahead && more);
  EXPECT_EQ(budget.free_pool(), 100U);
  ahead->use_guarantee();
  EXPECT_EQ(budget.free_pool(), 400U);
  more->use_guarantee();  // nothing is left of the guarantee
  EXPECT_EQ(budget.free_pool(), 400U);
  auto batch = budget.open_account("batch")->try_reserve(300);
  EXPECT_TRUE(batch);
  ahead.reset();
  EXPECT_EQ(budget.free_pool(), 100U);
  EXPECT_EQ(budget.used(), 600U);
}

TEST(Account, BytesOfTheSameAccountBecomeOneReservation) {
  Budget budget(1000);
  const AccountPtr batch = budget.open_account("batch");
  ASSERT_TRUE(batch->raise_floor(600).ok());
  Reservation whole = batch->charge(0);
  for (int i = 0; i < 4; ++i) {
    auto more = batch->reserve(200);
    ASSERT_TRUE(more.ok());
    ASSERT_TRUE(whole.absorb(more.value()));
  }
  EXPECT_EQ(whole.bytes(), 800U);
  EXPECT_EQ(batch->held(), 800U);
  Reservation other = budget.open_account("other")->charge(10);
  EXPECT_FALSE(whole.absorb(other));
  EXPECT_EQ(other.bytes(), 10U);
  whole.release();
  EXPECT_EQ(batch->held(), 0U);
  EXPECT_EQ(budget.free_pool(), 390U);  // the guarantee is whole again
}

}  // namespace
}  // namespace spillway
