#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

// TensorFlow 2.21: tf.data.Dataset.random(seed=4), whose seeds are (87654321, 4).
NodePtr random(Value again) {
  return node("random", {{"seed", std::int64_t{87654321}},
                         {"seed2", std::int64_t{4}},
                         {"rerandomize_each_iteration", std::move(again)}});
}
NodePtr take(std::int64_t count, NodePtr input) {
  return node("take", {{"count", count}}, {std::move(input)});
}
NodePtr repeat(std::int64_t count, NodePtr input) {
  return node("repeat", {{"count", count}}, {std::move(input)});
}

TEST(Random, GivesTensorFlowsNumbersInEveryEpoch) {
  check_operator(
      {.build = [] { return random({}); },
       .expect = {"3128586565", "2023892699", "452966358", "4293674553", "1485036815", "119868753"},
       .most = 6});
  check_operator({.build = [] { return repeat(2, take(2, random(false))); },
                  .expect = {"3128586565", "2023892699", "3128586565", "2023892699"}});
  EXPECT_EQ(random({})->cardinality(), kInfinite);
}

TEST(Random, GivesTensorFlowsOtherNumbersInEveryEpochWhenAsked) {
  check_operator({.build = [] { return repeat(3, take(2, random(true))); },
                  .expect = {"1905554911", "4215726141", "1683472663", "2279948892", "3140632116",
                             "4291497019"}});
}

TEST(Random, WithoutASeedDrawsOnePerDataset) {
  const NodePtr one = node("random", {});
  EXPECT_EQ(elements(one, 3), elements(one, 3));
  EXPECT_NE(elements(one, 3), elements(node("random", {}), 3));
}

TEST(Random, KeepsTheSeedItDrewInACheckpoint) {
  const Opened first = open(node("random", {}));
  drain(*first.it, Demand::one(), 2);
  StateWriter writer;
  ASSERT_TRUE(first.it->save(writer).ok());
  const Opened second = open(node("random", {}));
  StateReader reader(writer.bytes());
  ASSERT_TRUE(second.it->restore(reader).ok());
  EXPECT_EQ(drain(*second.it, {}, 3), drain(*first.it, {}, 3));
}

}  // namespace
}  // namespace spillway::testing
