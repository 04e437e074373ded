#include "spillway/memory/guardian.h"

#include <gtest/gtest.h>

#include "spillway/base/bytes.h"

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

}  // namespace
}  // namespace spillway
