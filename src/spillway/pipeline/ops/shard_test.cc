#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr shard(std::int64_t shards, std::int64_t index, NodePtr input) {
  return node("shard", {{"num_shards", shards}, {"index", index}}, {std::move(input)});
}

TEST(Shard, KeepsEveryNth) {
  check_operator({.build = [] { return shard(3, 0, range(10)); }, .expect = {"0", "3", "6", "9"}});
  check_operator({.build = [] { return shard(3, 2, range(10)); }, .expect = {"2", "5", "8"}});
  check_operator({.build = [] { return shard(1, 0, range(2)); }, .expect = {"0", "1"}});
}

TEST(Shard, IsEmptyWhenThereAreMoreShardsThanElements) {
  check_operator({.build = [] { return shard(20, 15, range(10)); }, .expect = {}});
}

TEST(Shard, CountsErrorsAsTensorFlowDoes) {
  check_operator({.build = [] { return shard(2, 1, failing_range(7, 3)); },
                  .expect = {"1", "!DATA_LOSS", "4", "6"}});
  check_operator({.build = [] { return shard(3, 0, failing_range(8, 2)); },
                  .expect = {"0", "!DATA_LOSS", "5"}});
  check_operator({.build = [] { return shard(3, 2, failing_range(8, 0)); },
                  .expect = {"!DATA_LOSS", "3", "6"}});
}

TEST(Shard, RefusesWhatIsNoShard) {
  const auto text = [](std::int64_t shards, std::int64_t index) {
    auto made = try_node("shard", {{"num_shards", shards}, {"index", index}}, {range(3)});
    EXPECT_FALSE(made.ok());
    return made.ok() ? "" : std::string(made.error().message());
  };
  EXPECT_EQ(text(0, 0), "Number of shards must be greater than zero (currently num_shards = 0).");
  EXPECT_EQ(text(3, 3), "Index must be between 0 and 2 (currently index = 3).");
  EXPECT_EQ(text(3, -1), "Index must be between 0 and 2 (currently index = -1).");
}

TEST(Shard, RefusesToRunOnAHint) {
  const auto run = Run::open(shard(-1, -1, range(3)), {}, Budget::process());
  ASSERT_TRUE(run.ok());
  const auto opened = run.value()->open_root();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace spillway::testing
