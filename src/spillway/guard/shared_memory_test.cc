#include "spillway/guard/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace spillway {
namespace {

constexpr std::size_t kMb = 1 << 20;

class SharedMemoryTest : public ::testing::Test {
 protected:
  Budget budget{64 * kMb};
  AccountPtr account = budget.open_account("test");
  std::shared_ptr<SharedMemory> memory = SharedMemory::create(budget, 16 * kMb).value();
};

TEST_F(SharedMemoryTest, APieceIsChargedAndGivesItsBytesBack) {
  {
    const SharedMemory::Piece piece = memory->take(account, 100'000);
    ASSERT_TRUE(piece);
    EXPECT_EQ(piece.bytes().size(), SharedMemory::rounded(100'000));
    EXPECT_EQ(account->held(), SharedMemory::rounded(100'000));
  }
  EXPECT_EQ(account->held(), 0U);
  EXPECT_EQ(memory->idle_bytes(), SharedMemory::rounded(100'000));
  EXPECT_EQ(budget.used(), SharedMemory::rounded(100'000)) << "what is idle is still held";
  EXPECT_EQ(memory->drop_idle(), SharedMemory::rounded(100'000));
  EXPECT_EQ(budget.used(), 0U);
}

TEST_F(SharedMemoryTest, IdleBytesGiveWayToWhoeverNeedsThem) {
  {
    const SharedMemory::Piece piece = memory->take(account, 8 * kMb);
  }
  ASSERT_EQ(memory->idle_bytes(), 8 * kMb);
  const auto rest = account->reserve(60 * kMb);
  EXPECT_TRUE(rest.ok());
  EXPECT_EQ(memory->idle_bytes(), 0U);
}

TEST_F(SharedMemoryTest, NoTwoPiecesOverlapAndAllCanBeTakenAgain) {
  std::vector<SharedMemory::Piece> pieces;
  while (SharedMemory::Piece piece = memory->take(account, kMb)) {
    std::memset(piece.bytes().data(), static_cast<int>(pieces.size()), piece.bytes().size());
    pieces.push_back(std::move(piece));
  }
  ASSERT_EQ(pieces.size(), 16U);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(pieces[i].bytes()[0]), i);
    EXPECT_EQ(static_cast<std::size_t>(pieces[i].bytes()[kMb - 1]), i);
  }
  pieces.clear();
  EXPECT_TRUE(memory->take(account, 16 * kMb)) << "neighbours are joined";
}

TEST_F(SharedMemoryTest, ASplitPieceGoesBackInParts) {
  SharedMemory::Piece piece = memory->take(account, 3 * SharedMemory::kPage);
  SharedMemory::Piece first = piece.split(SharedMemory::kPage);
  EXPECT_EQ(first.offset() + SharedMemory::kPage, piece.offset());
  EXPECT_EQ(account->held(), 3 * SharedMemory::kPage);
  const BufferPtr buffer = std::move(first).share(10);
  EXPECT_EQ(buffer->size(), 10U);
  piece = SharedMemory::Piece();
  EXPECT_EQ(account->held(), SharedMemory::kPage);
}

TEST_F(SharedMemoryTest, NobodyCanChangeItsSize) {
  EXPECT_NE(ftruncate(memory->fd(), 4096), 0);
  EXPECT_NE(ftruncate(memory->fd(), static_cast<off_t>(64 * kMb)), 0);
}

TEST_F(SharedMemoryTest, AForkedChildReadsItAndChangesNothing) {
  SharedMemory::Piece piece = memory->take(account, 100);
  SharedMemory::Piece idle = memory->take(account, 100);
  std::memcpy(piece.bytes().data(), "hello", 5);
  idle = SharedMemory::Piece();
  const pid_t pid = fork();
  if (pid == 0) {
    const bool same = std::memcmp(piece.bytes().data(), "hello", 5) == 0;
    std::memcpy(piece.bytes().data(), "child", 5);
    piece = SharedMemory::Piece();
    memory->drop_idle();
    memory = nullptr;
    _exit(same ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::memcmp(piece.bytes().data(), "hello", 5), 0);
}

TEST_F(SharedMemoryTest, AnotherViewSeesTheSameBytesAtTheSameOffset) {
  const SharedMemory::Piece piece = memory->take(account, 100);
  std::memcpy(piece.bytes().data(), "hello", 5);
  const auto other = SharedMemory::open(dup(memory->fd())).value();
  const std::span<std::byte> seen = other->at(piece.offset(), 5);
  ASSERT_EQ(seen.size(), 5U);
  EXPECT_EQ(std::memcmp(seen.data(), "hello", 5), 0);
  EXPECT_TRUE(other->at(other->size(), 1).empty());
  EXPECT_TRUE(other->at(UINT64_MAX, 2).empty());
}

}  // namespace
}  // namespace spillway
