#include "spillway/testing/operator_conformance.h"

#include <gtest/gtest.h>

#include "spillway/base/bytes.h"

namespace spillway::testing {
namespace {

void check_checkpoints(const OperatorCase& c) {
  for (std::size_t cut = 0; cut <= c.expect.size(); ++cut) {
    SCOPED_TRACE("checkpoint after event " + std::to_string(cut));
    const Opened first = open(c.build());
    std::vector<std::string> got = drain(*first.it, Demand::one(), cut);
    StateWriter writer;
    const Status saved = first.it->save(writer);
    ASSERT_TRUE(saved.ok()) << saved.message();
    const Opened second = open(c.build());
    StateReader reader(writer.bytes());
    const Status restored = second.it->restore(reader);
    ASSERT_TRUE(restored.ok()) << restored.message();
    for (std::string& event : drain(*second.it, Demand::one(), c.most - cut)) {
      got.push_back(std::move(event));
    }
    ASSERT_EQ(got, c.expect);
  }
}

void check_cardinality(const OperatorCase& c, const NodePtr& node) {
  if (node->cardinality() < 0) return;
  for (const std::string& event : c.expect) {
    if (event.starts_with('!')) return;  // what fails is counted, or not, as TensorFlow does
  }
  EXPECT_EQ(node->cardinality(), static_cast<std::int64_t>(c.expect.size())) << "cardinality";
}

void check_random_access(const OperatorCase& c, const NodePtr& node) {
  const IndexedPtr indexed = open_indexed(*node);
  if (indexed == nullptr) return;
  ASSERT_EQ(indexed->size(), static_cast<std::int64_t>(c.expect.size()));
  const AccountPtr account = Budget::process().open_account("random access");
  for (std::int64_t i = indexed->size() - 1; i >= 0; --i) {
    auto row = indexed->at({&i, 1}, account);
    ASSERT_TRUE(row.ok()) << row.error().message();
    EXPECT_EQ(show(row.value(), 0), c.expect[static_cast<std::size_t>(i)]) << "at " << i;
  }
}

}  // namespace

void check_operator(const OperatorCase& c) {
  const NodePtr node = c.build();
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->hash(), c.build()->hash()) << "equal pipelines must hash equal";
  for (const std::int64_t rows : {1, 2, 1000}) {
    SCOPED_TRACE("demand of " + std::to_string(rows));
    const Opened opened = open(c.build());
    EXPECT_EQ(drain(*opened.it, Demand{rows}, c.most), c.expect);
    if (c.expect.size() < c.most) {
      EXPECT_EQ(drain(*opened.it, Demand{rows}, 1), std::vector<std::string>{})
          << "end did not stay end";
      check_cardinality(c, node);
    }
  }
  check_random_access(c, node);
  if (c.checkpoint) check_checkpoints(c);
}

void check_scarcity(const std::function<NodePtr()>& build) {
  Scarcity scarcity(4 * kMiB);
  const Opened opened = open(build(), scarcity.budget());
  ASSERT_TRUE(opened.it->next(Demand::one()).ok());
  scarcity.leave(100 * kKiB);
  for (int i = 0; i < 2; ++i) {
    const Next refused = opened.it->next(Demand::one());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().info().type, "BudgetError");
  }
  StateWriter state;
  ASSERT_TRUE(opened.it->save(state).ok());
  scarcity.end();
  const auto expect_second_batch = [](Iterator& it) {
    const Next next = it.next(Demand::one());
    ASSERT_TRUE(next.ok() && next.value());
    const Tensor batch = next.value()->row(0).values[0];
    EXPECT_EQ(batch.shape(), (Shape{4, kLargeRow}));
    for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(*batch.row(i).as<std::int64_t>(), 4 + i);
  };
  expect_second_batch(*opened.it);
  const Opened restored = open(build());
  StateReader reader(state.bytes());
  ASSERT_TRUE(restored.it->restore(reader).ok());
  expect_second_batch(*restored.it);
}

}  // namespace spillway::testing
