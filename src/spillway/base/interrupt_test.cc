#include "spillway/base/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>

#include "spillway/base/workers.h"

namespace spillway {
namespace {

std::atomic<bool> pressed{false};
bool is_pressed() { return pressed; }

class Interrupt : public ::testing::Test {
 protected:
  void SetUp() override { pressed = false; }
  // The question is asked at most every 20 ms.
  static bool abandoned_at_last() {
    for (;;) {
      if (abandoned()) return true;
    }
  }
};

TEST_F(Interrupt, WorkIsAbandonedForGoodFromTheFirstYesOn) {
  const InterruptScope scope(is_pressed);
  EXPECT_FALSE(abandoned());
  pressed = true;
  EXPECT_FALSE(given_up());  // nobody has asked
  EXPECT_TRUE(abandoned_at_last());
  EXPECT_TRUE(given_up());
  pressed = false;
  EXPECT_TRUE(abandoned());
}

TEST_F(Interrupt, EachScopeBeginsAnew) {
  pressed = true;
  {
    const InterruptScope scope(is_pressed);
    EXPECT_TRUE(abandoned_at_last());
  }
  EXPECT_FALSE(abandoned());
  pressed = false;
  const InterruptScope next(is_pressed);
  EXPECT_FALSE(abandoned());
}

TEST_F(Interrupt, AScopeWithoutAQuestionHidesTheOneOutside) {
  pressed = true;
  const InterruptScope scope(is_pressed);
  ASSERT_TRUE(abandoned_at_last());
  const InterruptScope hidden(nullptr);
  EXPECT_FALSE(abandoned());
  EXPECT_FALSE(interrupted());
}

TEST_F(Interrupt, HelpersHearWhatTheyHelpWith) {
  const InterruptScope scope(is_pressed);
  std::atomic<std::int64_t> done{0};
  // A range ends only when the work was abandoned: without that this would not come back.
  parallel_ranges(1000, [&](std::int64_t, int) {
    pressed = true;
    while (!abandoned()) {
    }
    ++done;
  });
  EXPECT_TRUE(given_up());
  EXPECT_LE(done, parallel_width());
}

TEST_F(Interrupt, WithoutAScopeAllRangesAreDone) {
  pressed = true;
  std::atomic<std::int64_t> done{0};
  parallel_ranges(1000, [&](std::int64_t, int) { ++done; });
  EXPECT_EQ(done, 1000);
}

}  // namespace
}  // namespace spillway
