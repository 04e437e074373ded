#include "spillway/guard/blame.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

class BlameBookTest : public ::testing::Test {
 protected:
  Budget budget{1 << 20};
  AccountPtr pass = budget.open_account("map#1");
  BlameBook book;
};

TEST_F(BlameBookTest, AnElementIsToBlameUntilItIsAcquitted) {
  EXPECT_EQ(book.of(pass, {0, 5}).deaths, 0);
  book.blame(pass, {0, 5}, {1, 2, bad_data(Code::kDataLoss, "dead")});
  EXPECT_EQ(book.of(pass, {0, 5}).deaths, 1);
  EXPECT_EQ(book.of(pass, {0, 5}).lost, 2);
  EXPECT_EQ(book.of(pass, {0, 5}).error.code(), Code::kDataLoss);
  EXPECT_EQ(book.of(pass, {1, 5}).deaths, 0) << "another epoch";
  book.acquit(pass, {0, 5});
  EXPECT_EQ(book.of(pass, {0, 5}).deaths, 0);
}

TEST_F(BlameBookTest, RowsAreCountedUpToTheNextThatIsToBlame) {
  EXPECT_EQ(book.rows_before_next(pass, {0, 3}, 10), 10);
  book.blame(pass, {0, 5}, {1, 0, {}});
  EXPECT_EQ(book.rows_before_next(pass, {0, 3}, 10), 2);
  EXPECT_EQ(book.rows_before_next(pass, {0, 3}, 1), 1);
  EXPECT_EQ(book.rows_before_next(pass, {0, 5}, 10), 10) << "the first itself is the caller's";
  EXPECT_EQ(book.rows_before_next(pass, {1, 3}, 10), 10) << "another epoch";
}

TEST_F(BlameBookTest, APassKnowsNothingOfTheOthers) {
  const AccountPtr other = budget.open_account("map#1");
  book.blame(pass, {0, 5}, {1, 0, {}});
  EXPECT_EQ(book.of(other, {0, 5}).deaths, 0);
  EXPECT_EQ(book.rows_before_next(other, {0, 3}, 10), 10);
  book.acquit(other, {0, 5});
  EXPECT_EQ(book.of(pass, {0, 5}).deaths, 1);
  pass = budget.open_account("map#1");
  EXPECT_EQ(book.of(pass, {0, 5}).deaths, 0);
}

TEST_F(BlameBookTest, OnlySoManyAreKept) {
  for (std::int64_t i = 0; i < 5000; ++i) book.blame(pass, {0, i}, {1, 0, {}});
  EXPECT_EQ(book.of(pass, {0, 0}).deaths, 0);
  EXPECT_EQ(book.of(pass, {0, 4999}).deaths, 1);
}

}  // namespace
}  // namespace spillway
