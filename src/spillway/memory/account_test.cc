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

// R6: the user keeps an element, and the guarantee is for the next one.
TEST(Account, AnElementThatTheUserKeepsLeavesTheGuarantee) {
  Budget budget(1000);
  const AccountPtr stage = budget.open_account("stage");
  const AccountPtr other = budget.open_account("other");
  ASSERT_TRUE(stage->raise_floor(300).ok());
  auto ahead = other->try_reserve(700);
  Reservation kept = stage->reserve(300).value();
  EXPECT_EQ(budget.free_pool(), 0U);
  kept.leave_guarantee();
  EXPECT_EQ(budget.missing(), 300U);
  EXPECT_FALSE(other->try_ahead(1));  // look-ahead leaves alone what comes free
  ahead->shrink(500);
  EXPECT_EQ(budget.missing(), 300U);  // only the whole of it is of use
  EXPECT_FALSE(other->try_ahead(1));
  ahead->shrink(300);
  EXPECT_EQ(budget.missing(), 0U);
  EXPECT_EQ(budget.free_pool(), 100U);
  EXPECT_TRUE(stage->reserve(300).ok());
  kept.release();
  EXPECT_EQ(budget.free_pool(), 400U);
}

TEST(Account, BytesOfThePoolStandInForThoseAGuaranteeMisses) {
  Budget budget(1000);
  const AccountPtr stage = budget.open_account("stage");
  ASSERT_TRUE(stage->raise_floor(600).ok());
  auto rest = budget.open_account("rest")->try_reserve(400);
  Reservation kept = stage->reserve(600).value();
  kept.leave_guarantee();
  rest->release();
  EXPECT_EQ(budget.missing(), 600U);
  Reservation next = stage->reserve(250).value();
  EXPECT_EQ(budget.missing(), 350U);
  next.release();
  EXPECT_EQ(budget.missing(), 350U);  // the guarantee has them now
  EXPECT_EQ(budget.free_pool(), 150U);
  kept.release();
  EXPECT_EQ(budget.missing(), 0U);
  EXPECT_EQ(budget.free_pool(), 400U);
  stage->drop_floor();
  EXPECT_EQ(budget.free_pool(), 1000U);
}

TEST(Account, AGuaranteeThatIsGivenUpMissesNothing) {
  Budget budget(1000);
  const AccountPtr stage = budget.open_account("stage");
  EXPECT_FALSE(stage->promise_floor(1100));
  auto held = stage->try_reserve(700);
  ASSERT_TRUE(stage->promise_floor(600));
  EXPECT_EQ(budget.missing(), 600U);
  EXPECT_EQ(held->use_guarantee(), 0U);  // found in what is held
  EXPECT_EQ(budget.missing(), 0U);
  held->leave_guarantee();
  EXPECT_EQ(budget.missing(), 600U);
  stage->drop_floor();
  EXPECT_EQ(budget.missing(), 0U);
  held->release();
  EXPECT_EQ(budget.free_pool(), 1000U);
  EXPECT_EQ(stage->floor(), 0U);
}

// A row that waits for the batch that it becomes part of.
TEST(Account, ARowThatWaitsUsesTheGuaranteeOfItsOutput) {
  Budget budget(1000);
  const AccountPtr maker = budget.open_account("maker");
  const AccountPtr batch = budget.open_account("batch");
  ASSERT_TRUE(maker->raise_floor(100).ok());
  ASSERT_TRUE(batch->raise_floor(250).ok());
  auto rest = budget.open_account("rest")->try_reserve(650);
  Reservation row = maker->reserve(100).value();
  EXPECT_FALSE(maker->try_ahead(1));
  row.enter_guarantee(batch);
  EXPECT_EQ(row.account(), batch);
  EXPECT_EQ(batch->held(), 100U);
  EXPECT_EQ(maker->held(), 0U);
  Reservation second = maker->reserve(100).value();  // the maker's guarantee is free again
  second.enter_guarantee(batch);
  Reservation third = maker->reserve(100).value();
  third.enter_guarantee(batch);  // 50 are left: it stays
  EXPECT_EQ(third.account(), maker);
  EXPECT_TRUE(batch->reserve(50).ok());
  row.release();
  EXPECT_TRUE(batch->reserve(150).ok());
}

TEST(Account, LookAheadLeavesRoomForOneMore) {
  Budget budget(1000);
  const AccountPtr stage = budget.open_account("stage");
  EXPECT_FALSE(stage->try_ahead(501));
  auto first = stage->try_ahead(500);
  EXPECT_TRUE(first);
  EXPECT_FALSE(stage->try_ahead(251));
}

}  // namespace
}  // namespace spillway
