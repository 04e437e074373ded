#include "spillway/memory/filling.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "spillway/base/bytes.h"

namespace spillway {
namespace {

constexpr std::size_t kPiece = kMiB;
constexpr std::size_t kPieces = 8;
constexpr std::size_t kWhole = kPieces * kPiece;

Buffer piece(const AccountPtr& account, int number) {
  Buffer out = Buffer::allocate(account, kPiece, Buffer::Ask::kRequired).value();
  std::memset(out.data(), number, kPiece);
  out.touch();
  return out;
}

// All pieces exist before the first one is copied, and each goes when it has been.
TEST(Filling, pieces_move_into_the_whole_with_room_for_one_more) {
  Budget budget(kWhole + kPiece);
  const AccountPtr account = budget.open_account("batch");
  std::vector<std::optional<Buffer>> pieces;
  pieces.reserve(kPieces);
  for (std::size_t i = 0; i < kPieces; ++i) pieces.emplace_back(piece(account, int(i)));
  auto filling = Filling::begin(account, kWhole, Filling::Comes::kAll).value();
  for (std::size_t i = 0; i < kPieces; ++i) {
    ASSERT_TRUE(filling->extend((i + 1) * kPiece).ok()) << i;
    std::memcpy(filling->buffer()->data() + i * kPiece, pieces[i]->data(), kPiece);
    pieces[i].reset();
  }
  filling->end(kWhole);
  const BufferPtr whole = filling->buffer();
  filling.reset();
  EXPECT_EQ(whole->charged(), kWhole);
  for (std::size_t i = 0; i < kPieces; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(whole->data()[(i + 1) * kPiece - 1]), i);
  }
  EXPECT_EQ(budget.used(), kWhole);
}

TEST(Filling, without_room_for_a_piece_nothing_changes) {
  Budget budget(3 * kPiece);
  const AccountPtr account = budget.open_account("batch");
  auto other = budget.open_account("other")->try_reserve(kPiece);
  auto filling = Filling::begin(account, kWhole, Filling::Comes::kAtMost).value();
  ASSERT_TRUE(filling->extend(2 * kPiece).ok());
  filling->buffer()->data()[0] = std::byte{7};
  const Status refused = filling->extend(3 * kPiece);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.info().type, "BudgetError");
  EXPECT_FALSE(filling->extend(3 * kPiece, Buffer::Ask::kOptional).ok());
  other.reset();
  ASSERT_TRUE(filling->extend(3 * kPiece).ok());
  EXPECT_EQ(filling->buffer()->data()[0], std::byte{7});
}

TEST(Filling, what_can_never_be_finished_is_refused_as_a_whole) {
  Budget budget(4 * kPiece);
  const AccountPtr account = budget.open_account("batch");
  const auto all = Filling::begin(account, kWhole, Filling::Comes::kAll);
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().info().type, "ElementTooLarge");
  EXPECT_NE(all.error().message().find("8.00 MiB"), std::string::npos);
}

TEST(Filling, what_is_not_filled_yet_gives_way) {
  Budget budget(4 * kWhole);
  const AccountPtr account = budget.open_account("batch");
  auto filling = Filling::begin(account, kWhole, Filling::Comes::kAll).value();
  EXPECT_EQ(filling->buffer()->charged(), kWhole);  // plenty of room
  ASSERT_TRUE(filling->extend(2 * kPiece).ok());
  std::memset(filling->buffer()->data(), 5, 2 * kPiece);
  // Somebody needs nearly all.
  auto needed = budget.open_account("other")->reserve(4 * kWhole - 2 * kPiece);
  ASSERT_TRUE(needed.ok());
  EXPECT_EQ(filling->buffer()->charged(), 2 * kPiece);
  EXPECT_FALSE(filling->extend(3 * kPiece, Buffer::Ask::kOptional).ok());
  needed.value().release();
  ASSERT_TRUE(filling->extend(kWhole).ok());
  std::memset(filling->buffer()->data() + 2 * kPiece, 6, kWhole - 2 * kPiece);
  EXPECT_EQ(filling->buffer()->data()[2 * kPiece - 1], std::byte{5});
}

TEST(Filling, the_end_gives_back_what_is_behind_it) {
  Budget budget(4 * kWhole);
  const AccountPtr account = budget.open_account("batch");
  auto filling = Filling::begin(account, kWhole, Filling::Comes::kAtMost).value();
  ASSERT_TRUE(filling->extend(kPiece).ok());
  filling->end(kPiece);
  const BufferPtr rest = filling->buffer();
  filling.reset();
  EXPECT_EQ(rest->size(), kPiece);
  EXPECT_EQ(budget.used(), kPiece);
}

// A guarantee counts as room, and comes back.
TEST(Filling, grows_out_of_a_guarantee) {
  Budget budget(kWhole + kPiece);
  const AccountPtr account = budget.open_account("batch");
  ASSERT_TRUE(account->raise_floor(kWhole).ok());
  auto other = budget.open_account("other")->try_reserve(kPiece);
  ASSERT_TRUE(other);
  {
    auto filling = Filling::begin(account, kWhole, Filling::Comes::kAll).value();
    for (std::size_t i = 1; i <= kPieces; ++i) ASSERT_TRUE(filling->extend(i * kPiece).ok());
    EXPECT_EQ(filling->buffer()->charged(), kWhole);
  }
  EXPECT_EQ(account->held(), 0U);
  EXPECT_EQ(budget.free_pool(), 0U);
  account->drop_floor();
  EXPECT_EQ(budget.free_pool(), kWhole);
}

}  // namespace
}  // namespace spillway
