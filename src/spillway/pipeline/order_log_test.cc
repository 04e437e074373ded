#include "spillway/pipeline/order_log.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

class OrderLogTest : public ::testing::Test {
 protected:
  std::shared_ptr<OrderBook> book() const { return std::make_shared<OrderBook>(account_); }
  static std::string state_of(const OrderLog& log) {
    StateWriter out;
    log.save(out);
    return out.bytes();
  }
  // The book that a checkpoint restores.
  std::shared_ptr<OrderBook> restored(const OrderBook& from) const {
    StateWriter out;
    from.save(out);
    StateReader in(out.bytes());
    auto made = book();
    EXPECT_TRUE(made->read(in).ok());
    return made;
  }
  static std::vector<std::int64_t> all_due(OrderLog& log) {
    std::vector<std::int64_t> out;
    while (const auto due = log.due()) {
      out.push_back(due->first);
      log.add(due->first, 1);
    }
    return out;
  }
  static Status restore(OrderLog& log, const std::string& state) {
    StateReader in(state);
    return log.restore(in);
  }

  Budget budget_{1 << 24};
  AccountPtr account_ = budget_.open_account("test", "");
};

TEST_F(OrderLogTest, RowsBehindANoteAreDueInTheirOrder) {
  const auto first = book();
  OrderLog log(first, "map");
  log.add(2, 1);
  const OrderBook::Mark mark = first->mark();
  const std::string state = state_of(log);
  log.add(0, 2);
  log.add(7, 1);
  log.add(3, 1);
  OrderLog again(restored(*first), "map");
  ASSERT_TRUE(restore(again, state).ok());
  EXPECT_EQ(all_due(again), (std::vector<std::int64_t>{0, 1, 7, 3}));
}

TEST_F(OrderLogTest, AnIteratorThatIsOpenedLaterFindsItsOrder) {
  const auto first = book();
  const OrderBook::Mark mark = first->mark();
  {
    OrderLog one(first, "map, epoch 0");
    one.add(1, 1);
    one.add(0, 1);
  }
  OrderLog two(first, "map, epoch 1");
  two.add(4, 1);
  const auto second = restored(*first);
  OrderLog one(second, "map, epoch 0");
  OrderLog next(second, "map, epoch 1");
  EXPECT_EQ(all_due(one), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(all_due(next), (std::vector<std::int64_t>{4}));
}

TEST_F(OrderLogTest, TwoOfOneNameAreToldApart) {
  const auto first = book();
  const OrderBook::Mark mark = first->mark();
  OrderLog one(first, "map");
  OrderLog two(first, "map");
  one.add(1, 1);
  two.add(5, 1);
  const auto second = restored(*first);
  OrderLog again(second, "map");
  OrderLog other(second, "map");
  EXPECT_EQ(all_due(again), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(all_due(other), (std::vector<std::int64_t>{5}));
}

TEST_F(OrderLogTest, WhatIsDueStaysInLaterCheckpoints) {
  const auto first = book();
  const OrderBook::Mark mark = first->mark();
  OrderLog log(first, "map");
  log.add(5, 2);
  log.add(1, 1);
  const auto second = restored(*first);
  OrderLog again(second, "map");
  ASSERT_EQ(again.due()->first, 5);
  again.add(5, 1);
  const OrderBook::Mark keep = second->keep_all();
  const std::string state = state_of(again);
  OrderLog third(restored(*second), "map");
  ASSERT_TRUE(restore(third, state).ok());
  EXPECT_EQ(all_due(third), (std::vector<std::int64_t>{6, 1}));
}

TEST_F(OrderLogTest, NothingIsKeptThatNoNoteNeeds) {
  const auto one = book();
  OrderLog log(one, "map");
  for (std::int64_t i = 0; i < 100'000; ++i) log.add(2 * i, 1);
  EXPECT_LE(account_->held(), std::size_t{1} << 16U);
  EXPECT_FALSE(log.full());
  for (int epoch = 0; epoch < 1000; ++epoch) {
    OrderLog other(one, "map, epoch " + std::to_string(epoch));
    other.add(1, 1);
  }
  StateWriter out;
  one->save(out);
  EXPECT_LT(out.bytes().size(), 100U) << "iterators that are gone leave nothing";
}

TEST_F(OrderLogTest, ItIsChargedAndBounded) {
  const auto one = book();
  OrderLog log(one, "map");
  std::int64_t at = 0;
  {
    const OrderBook::Mark mark = one->mark();
    for (; !log.full(); at += 2) log.add(at, 1);
    EXPECT_GE(account_->held(), std::size_t{1} << 20U);
    EXPECT_LE(account_->held(), std::size_t{2} << 20U);
  }
  log.add(at, 1);  // the note is gone
  EXPECT_FALSE(log.full());
  EXPECT_LE(account_->held(), std::size_t{1} << 16U);
}

TEST_F(OrderLogTest, WithoutMemoryItIsFull) {
  const auto rest = account_->try_reserve((1 << 24) - 1024);
  ASSERT_TRUE(rest);
  const auto one = book();
  const OrderBook::Mark mark = one->mark();
  OrderLog log(one, "map");
  log.add(3, 1);
  EXPECT_TRUE(log.full());
}

TEST_F(OrderLogTest, StatesOfStrangersAreRefused) {
  for (const std::int64_t hostile : {std::int64_t{-1}, INT64_MAX}) {
    StateWriter out;
    out.put(1);
    out.put("map");
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{0}, std::int64_t{1}, std::int64_t{0}, hostile}) {
      out.put(value);
    }
    StateReader in(out.bytes());
    EXPECT_FALSE(book()->read(in).ok()) << hostile;
  }
  const auto one = book();
  OrderLog log(one, "map");
  log.add(1, 1);
  OrderLog other(book(), "filter");
  EXPECT_FALSE(restore(other, state_of(log)).ok()) << "another iterator's";
}

}  // namespace
}  // namespace spillway
