#include "spillway/graph/spilled.h"

#include <gtest/gtest.h>

#include "spillway/graph/evaluate.h"
#include "spillway/testing/pipelines.h"

namespace spillway::testing {
namespace {

using graph::Operand;

TEST(Spilled, AValueComesBackAsItWas) {
  Budget budget(std::size_t{64} << 20U);
  const AccountPtr account = budget.open_account("test");
  const Operand known{graph::Node::constant(i64s({1, 2, 3})), 0};
  auto moved = graph::spill(known);
  ASSERT_TRUE(moved.ok());
  const Operand back{moved.value(), 0};
  EXPECT_EQ(back.value(), nullptr);
  EXPECT_EQ(back.spec().shape, Shape({3}));
  ASSERT_TRUE(graph::evaluate({&back, 1}, account).ok());
  EXPECT_EQ(back.value()->as<std::int64_t>()[2], 3);
}

TEST(Spilled, WhatIsComputedFromItReadsItBackFirst) {
  Budget budget(std::size_t{64} << 20U);
  const AccountPtr account = budget.open_account("test");
  const Operand known{graph::Node::constant(i64s(std::vector<std::int64_t>(100'000, 7))), 0};
  auto moved = graph::spill(known);
  ASSERT_TRUE(moved.ok());
  auto sum = graph::Node::make(*graph::find_op("add"), {{moved.value(), 0}, known}, {}, nullptr);
  ASSERT_TRUE(sum.ok());
  const Operand root{sum.value(), 0};
  ASSERT_TRUE(graph::evaluate({&root, 1}, account).ok());
  EXPECT_EQ(root.value()->as<std::int64_t>()[99'999], 14);
}

TEST(Spilled, WhatWasReadBackIsNotWrittenAgain) {
  Budget budget(std::size_t{64} << 20U);
  const AccountPtr account = budget.open_account("test");
  auto moved = graph::spill({graph::Node::constant(i64(5)), 0});
  ASSERT_TRUE(moved.ok());
  const Operand back{moved.value(), 0};
  ASSERT_TRUE(graph::evaluate({&back, 1}, account).ok());
  auto again = graph::spill(back);
  ASSERT_TRUE(again.ok());
  const auto place = [](const graph::NodePtr& node) {
    return *node->attrs().get<std::shared_ptr<const void>>("value");
  };
  EXPECT_EQ(place(moved.value()), place(again.value()));
}

}  // namespace
}  // namespace spillway::testing
