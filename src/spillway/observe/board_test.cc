#include "spillway/observe/board.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace spillway {
namespace {

// This thread's levels that show something.
std::vector<const flight::Level*> shown() {
  std::vector<const flight::Level*> out;
  const auto self = static_cast<std::uint64_t>(pthread_self());
  for (const flight::Thread& thread : Board::process().region()->threads) {
    if (thread.owner == 0 || thread.ident != self) continue;
    for (const flight::Level& level : thread.levels) {
      if (level.phase != 0) out.push_back(&level);
    }
  }
  return out;
}

TEST(Board, ShowsWhatAThreadIsAtAndWithinWhat) {
  Board& board = Board::process();
  board.region();
  const std::uint32_t outer = stage_text("batch#2", "", "a.py:3");
  const std::uint32_t inner = stage_text("map#1", "decode", "a.py:2");
  EXPECT_EQ(board.words(inner), "map#1 (decode), a.py:2");
  EXPECT_EQ(stage_text("map#1", "decode", "a.py:2"), inner);
  {
    const Doing waiting(Phase::kConsumer, outer, 0, 7, nullptr);
    {
      const Doing calling(Phase::kFunction, inner, 0, 40, nullptr);
      *calling.row() = 2;
      const auto levels = shown();
      ASSERT_EQ(levels.size(), 2U);
      EXPECT_EQ(levels[0]->text, outer);
      EXPECT_EQ(levels[1]->text, inner);
      EXPECT_EQ(levels[1]->element + levels[1]->row, 42);
      EXPECT_EQ(levels[1]->serial % 2, 0U);
      EXPECT_EQ(Doing::current_text(), inner);
    }
    EXPECT_EQ(shown().size(), 1U);
  }
  EXPECT_TRUE(shown().empty());
}

TEST(Board, WhatIsTooDeepIsNotShownAndHarmsNothing) {
  Board::process().region();
  const auto nest = [](auto&& self, int left) -> void {
    const Doing doing(Phase::kFunction, 0, 0, left, nullptr);
    EXPECT_LE(shown().size(), flight::kLevels);
    if (left > 0) self(self, left - 1);
  };
  nest(nest, 2 * static_cast<int>(flight::kLevels));
  EXPECT_TRUE(shown().empty());
}

TEST(Board, MoreThreadsThanPlacesAndTextsThanRoomAreLeftOut) {
  Board& board = Board::process();
  board.region();
  constexpr int kMany = static_cast<int>(flight::kThreads) + 20;
  std::latch all(kMany);
  std::vector<std::jthread> threads;
  threads.reserve(kMany);
  for (int i = 0; i < kMany; ++i) {
    threads.emplace_back([&all] {
      const Doing doing(Phase::kFunction, 0, 0, 1, nullptr);
      all.arrive_and_wait();
    });
  }
  threads.clear();
  {
    // The places are free again.
    const Doing doing(Phase::kFunction, 0, 0, 1, nullptr);
    EXPECT_NE(doing.row(), nullptr);
    for (std::size_t i = 0; i < 2 * flight::kTexts; ++i) {
      EXPECT_LT(board.text("text " + std::to_string(i)), flight::kTexts);
    }
    EXPECT_EQ(board.text("one too many"), 0U);
    EXPECT_FALSE(board.forget_texts());  // somebody is at something
  }
  EXPECT_TRUE(board.forget_texts());
}

TEST(Board, TextsAreForgottenWhenNobodyIsAtAnything) {
  Board& board = Board::process();
  board.region();
  for (std::size_t i = 0; i < flight::kTexts; ++i) board.text("text " + std::to_string(i));
  EXPECT_TRUE(board.forget_texts());
  EXPECT_NE(stage_text("map#1", "f", "a.py:2"), 0U);
  EXPECT_FALSE(board.forget_texts());  // few are there
}

TEST(Board, AForkedChildWritesToMemoryOfItsOwn) {
  flight::Region* const region = Board::process().region();
  const Doing doing(Phase::kFunction, 0, 0, 5, nullptr);
  ASSERT_NE(doing.row(), nullptr);
  const pid_t child = fork();
  if (child == 0) {
    *doing.row() = 99;
    const bool hidden = Board::process().forked() && Board::process().text("child") == 0;
    _exit(hidden ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*doing.row(), 0);
  EXPECT_EQ(Board::process().made(), region);
  EXPECT_FALSE(Board::process().forked());
}

}  // namespace
}  // namespace spillway
