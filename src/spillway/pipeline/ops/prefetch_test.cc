#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

TEST(Prefetch, ChangesNothingButTheTime) {
  for (const std::int64_t size : {-1, 0, 1, 3, 100}) {
    SCOPED_TRACE(size);
    check_operator(
        {.build = [size] { return node("prefetch", {{"buffer_size", size}}, {range(5)}); },
         .expect = {"0", "1", "2", "3", "4"}});
  }
}

TEST(Prefetch, KeepsErrorsInTheirPlace) {
  const auto build = [] {
    const FunctionPtr f = scalar_fn([](std::int64_t x) -> Result<std::int64_t> {
      if (x == 1) return bad_data(Code::kDataLoss, "bad");
      return x;
    });
    return node("prefetch", {{"buffer_size", std::int64_t{2}}},
                {node("map", {{"map_func", f}}, {range(3)})});
  };
  check_operator({.build = build, .expect = {"0", "!DATA_LOSS", "2"}});
}

TEST(Prefetch, LooksAheadByExactlyItsSize) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  const FunctionPtr counting = scalar_fn([calls](std::int64_t x) -> Result<std::int64_t> {
    ++*calls;
    return x;
  });
  const Opened opened = open(node("prefetch", {{"buffer_size", std::int64_t{3}}},
                                  {node("map", {{"map_func", counting}}, {range(100)})}));
  for (int taken = 1; taken <= 4; ++taken) {
    ASSERT_TRUE(opened.it->next(Demand::one()).ok());
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    while (*calls < taken + 3 && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::yield();
    }
    EXPECT_EQ(*calls, taken + 3);
  }
}

TEST(Prefetch, RefusesANegativeSize) {
  EXPECT_FALSE(try_node("prefetch", {{"buffer_size", std::int64_t{-2}}}, {range(1)}).ok());
}

}  // namespace
}  // namespace spillway::testing
