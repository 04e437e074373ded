#include "spillway/memory/guardian.h"

#include <gtest/gtest.h>

#include <future>

#include "spillway/base/bytes.h"
#include "spillway/base/test_point.h"

namespace spillway {
namespace {

TEST(Guardian, AdmitsWhatFitsAndNamesWhatDoesNot) {
  Guardian& guardian = Guardian::process();
  std::string refusal;
  EXPECT_TRUE(guardian.admit({kMiB, "an array"}, refusal)) << refusal;
  EXPECT_TRUE(refusal.empty());
  EXPECT_FALSE(guardian.admit({std::size_t{1} << 50, "an array"}, refusal));
  for (const char* words : {"an array of 1", "does not fit", "allows", "in use", "are left"}) {
    EXPECT_NE(refusal.find(words), std::string::npos) << words << " in " << refusal;
  }
}

TEST(Guardian, CountsWhatIsAllocatedWhetherItIsTouchedOrNot) {
  Guardian& guardian = Guardian::process();
  const std::int64_t before = guardian.counted();
  guardian.allocated(5'000'000);
  EXPECT_EQ(guardian.counted(), before + 5'000'000);
  guardian.allocated(-5'000'000);
  EXPECT_EQ(guardian.counted(), before);
}

TEST(Guardian, AnEndedGuardianMayBeStartedAgain) {
  Guardian& guardian = Guardian::process();
  for (int i = 0; i < 3; ++i) {
    guardian.start(nullptr);
    guardian.stop();
  }
  std::string refusal;
  EXPECT_TRUE(guardian.admit({kMiB, "an array"}, refusal)) << refusal;
}

#ifdef SW_TEST_POINTS
TEST(Guardian, WhatIsAllocatedWhileItLooksIsNotLeftAnyMore) {
  Guardian& guardian = Guardian::process();
  const std::size_t left = RoomGauge::process().look().left();
  const auto all = static_cast<std::int64_t>(left);
  guardian.start(nullptr);
  std::promise<void> allocated;
  {
    const ScopedTestPoint looked("the guardian has looked", [&] {
      guardian.allocated_arrays(all);
      allocated.set_value();
    });
    allocated.get_future().wait();
  }
  std::promise<bool> admitted;  // of what the look before said
  const ScopedTestPoint looked("the guardian has looked", [&] {
    std::string refusal;
    admitted.set_value(guardian.admit({left / 8, "an array"}, refusal));
  });
  EXPECT_FALSE(admitted.get_future().get());
  guardian.allocated_arrays(-all);
  guardian.stop();
}
#endif

}  // namespace
}  // namespace spillway
