#include "spillway/memory/budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "spillway/base/bytes.h"
#include "spillway/memory/activity.h"
#include "spillway/memory/buffer.h"

namespace spillway {
namespace {

class BudgetTest : public ::testing::Test {
 protected:
  Budget budget_{1000};
  const AccountPtr maker_ = budget_.open_account("maker");
  const AccountPtr store_ = budget_.open_account("store");
};

TEST_F(BudgetTest, WhatIsBeyondTheLimitMayNotSettleInABuffer) {
  auto full = maker_->try_reserve(1000);
  ASSERT_TRUE(full);
  Reservation owed = maker_->charge(50);
  EXPECT_EQ(budget_.used(), 1050U);
  EXPECT_FALSE(owed.transfer(store_));
  EXPECT_EQ(store_->held(), 0U);
  full->shrink(950);
  EXPECT_TRUE(owed.transfer(store_));
  EXPECT_EQ(store_->held(), 50U);
}

TEST_F(BudgetTest, WhatIsFilledBitByBitIsInMemoryBitByBit) {
  Reservation room = maker_->charge(500);
  EXPECT_EQ(budget_.touched(), 0U);
  room.touch(200);
  room.touch(100);
  EXPECT_EQ(budget_.touched(), 200U);
  room.shrink(300);
  EXPECT_EQ(budget_.touched(), 200U);
  room.shrink(150);
  EXPECT_EQ(budget_.touched(), 150U);
  room.touch();
  Reservation other = std::move(room);
  other.touch(1000);
  EXPECT_EQ(budget_.touched(), 150U);
  other.release();
  EXPECT_EQ(budget_.touched(), 0U);
}

TEST_F(BudgetTest, WaitingForRoomTakesNothing) {
  EXPECT_TRUE(maker_->wait_for_room(1000).ok());
  EXPECT_EQ(budget_.used(), 0U);
}

TEST_F(BudgetTest, ADebtLetsNothingMoreBeMade) {
  const Reservation owed = maker_->charge(1200);
  const Consuming consuming(budget_);
  const Status refused = maker_->wait_for_room(10);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.info().type, "BudgetError");
  EXPECT_EQ(refused.kind(), ErrorKind::kResource);
}

TEST_F(BudgetTest, AProgramsOwnThreadIsRefusedWhatOnlyItCouldGiveBack) {
  const auto own = store_->try_reserve(900);
  const auto refused = maker_->reserve(200);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().info().type, "BudgetError");
}

TEST_F(BudgetTest, AnElementThatCanNeverFitIsNamedWithoutWaiting) {
  EXPECT_TRUE(maker_->check_possible(1000).ok());
  const Status refused = maker_->check_possible(1001);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.info().type, "ElementTooLarge");
}

TEST_F(BudgetTest, AGuaranteeIsRefusedForNowOrForEver) {
  const auto full = maker_->try_reserve(900);
  EXPECT_EQ(store_->raise_floor(200).info().type, "BudgetError");
  EXPECT_EQ(store_->raise_floor(1100).info().type, "FloorTooHigh");
  EXPECT_TRUE(store_->raise_floor(100).ok());
}

TEST_F(BudgetTest, BytesShownToTheUserCountOnceWhoeverPaysForThemNow) {
  Budget budget(kMiB);
  const AccountPtr maker = budget.open_account("maker");
  const AccountPtr store = budget.open_account("store");
  auto made = Buffer::allocate(maker, 128 * kKiB, Buffer::Ask::kRequired);
  ASSERT_TRUE(made.ok());
  Buffer& buffer = made.value();
  buffer.note_exported(true);
  buffer.note_exported(true);
  EXPECT_EQ(budget.exported(), buffer.charged());
  EXPECT_TRUE(buffer.transfer(store));
  buffer.note_exported(false);
  EXPECT_EQ(budget.exported(), buffer.charged());
  buffer.note_exported(false);
  EXPECT_EQ(budget.exported(), 0U);
  for (const LedgerRow& row : budget.ledger().rows) EXPECT_EQ(row.exported, 0U) << row.name;
}

TEST_F(BudgetTest, ASharedBufferIsAlignedAndPaidForAsLongAsAnybodyHasIt) {
  Budget budget(kMiB);
  const AccountPtr maker = budget.open_account("maker");
  for (const std::size_t bytes : {0, 1, 63, 64, 511, 512, 513, 5000}) {
    auto made = Buffer::share(maker, bytes, Buffer::Ask::kRequired);
    ASSERT_TRUE(made.ok());
    BufferPtr buffer = std::move(made).value();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % Buffer::kAlignment, 0U);
    EXPECT_EQ(buffer->size(), bytes);
    EXPECT_EQ(budget.used(), buffer->charged());
    EXPECT_GE(buffer->charged(), bytes);
    std::memset(buffer->data(), 0xff, buffer->charged());  // all of it is there, and nothing else
    const BufferPtr other = buffer;
    buffer.reset();
    EXPECT_GE(budget.used(), bytes);
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST_F(BudgetTest, ASmallSharedBufferIsRefusedLikeAnyOther) {
  const auto full = maker_->try_reserve(1000);
  EXPECT_FALSE(Buffer::share(maker_, 8, Buffer::Ask::kOptional).ok());
  EXPECT_EQ(budget_.used(), 1000U);
  EXPECT_TRUE(Buffer::share(maker_, 8, Buffer::Ask::kOwed).ok());
  EXPECT_EQ(budget_.used(), 1000U);
}

}  // namespace
}  // namespace spillway
