#include "spillway/testing/operator_conformance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "spillway/base/bytes.h"
#include "spillway/memory/scoped_refusal.h"
#include "spillway/pipeline/access.h"
#include "spillway/pipeline/audit.h"

namespace spillway::testing {
namespace {

// Before what is held at the end counts as dropped: nothing hides there.
void check_audit(const Opened& opened, bool ended) {
  const Audit audit = audit_of(*opened.run, opened.it->stage().stats().out.weight, false);
  for (const StageAudit& s : audit.stages) {
    SCOPED_TRACE("audit of " + s.name);
    for (const std::int64_t rows : {s.used, s.filtered, s.skipped, s.failed, s.dropped, s.held}) {
      EXPECT_GE(rows, 0);
    }
    EXPECT_EQ(s.in, s.used + s.filtered + s.skipped + s.failed + s.dropped + s.held);
    EXPECT_GE(s.source_held, 0);
    if (ended) {
      EXPECT_EQ(s.held, 0);
      EXPECT_EQ(s.source_held, 0);
    }
  }
  for (const std::int64_t rows :
       {audit.delivered, audit.filtered, audit.skipped, audit.failed, audit.dropped, audit.held}) {
    EXPECT_GE(rows, 0);
  }
}

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
    check_audit(first, false);
    if (c.expect.size() < c.most) check_audit(second, true);
  }
}

// As drain(); whoever finds no memory is asked again.
std::vector<std::string> drain_again(Iterator& it, const Demand& demand, std::size_t most) {
  std::vector<std::string> out;
  const Consuming consuming(it.stage().run().budget());
  int refused = 0;
  while (out.size() < most) {
    const Next next = it.next(demand);
    if (!next.ok() && !is_position(next.error())) {
      EXPECT_LT(++refused, 3) << next.error().message();
      if (refused >= 3) break;
      continue;
    }
    if (!next.ok()) out.push_back("!" + std::string(to_string(next.error().code())));
    if (next.ok() && !next.value()) break;
    for (std::int64_t i = 0; next.ok() && i < next.value()->rows() && out.size() < most; ++i) {
      out.push_back(show(*next.value(), i));
    }
  }
  return out;
}

// Wherever in a pass memory is refused once: asked again, it goes on with the same element.
void check_refusals(const OperatorCase& c) {
  constexpr std::int64_t kMost = 100;
  for (const std::int64_t rows : {1, 3}) {
    for (std::int64_t nth = 1; nth <= kMost; ++nth) {
      SCOPED_TRACE("reservation " + std::to_string(nth) + " refused, " + std::to_string(rows) +
                   " rows demanded");
      const Opened opened = open(c.build());
      const ScopedRefusal refusal(nth);
      ASSERT_EQ(drain_again(*opened.it, Demand{rows}, c.most), c.expect);
      check_audit(opened, c.expect.size() < c.most);
      if (!refusal.happened()) break;
    }
  }
}

// What fails is counted, or not, as TensorFlow does: then positions and elements differ.
bool any_failed(const OperatorCase& c) {
  return std::ranges::any_of(c.expect, [](const std::string& e) { return e.starts_with('!'); });
}

void check_cardinality(const OperatorCase& c, const NodePtr& node) {
  if (node->cardinality() < 0 || any_failed(c)) return;
  EXPECT_EQ(node->cardinality(), static_cast<std::int64_t>(c.expect.size())) << "cardinality";
}

// A shuffle has an order of its own in random access; a cache hands on that of the pass.
bool reorders(const Node& node) {
  if (node.op().name == "shuffle") return true;
  return node.op().name != "cache" &&
         std::ranges::any_of(node.inputs(), [](const NodePtr& n) { return reorders(*n); });
}

void check_random_access(const OperatorCase& c) {
  if (any_failed(c)) return;
  Budget budget(64 * kMiB);
  {
    const NodePtr node = c.build();
    auto access = Access::open(node, {}, budget);
    if (!access.ok()) {
      const Code why = access.error().code();
      EXPECT_TRUE(why == Code::kUnimplemented || why == Code::kFailedPrecondition);
      EXPECT_NE(access.error().info().stage, "");
      return;
    }
    std::vector<std::string> got(c.expect.size());
    for (std::size_t i = got.size(); i-- > 0;) {
      auto row = access.value()->at(static_cast<std::int64_t>(i));
      ASSERT_TRUE(row.ok()) << "at " << i << ": " << row.error().message();
      ASSERT_EQ(row.value().rows(), 1);
      got[i] = show(row.value(), 0);
    }
    if (!reorders(*node)) {
      EXPECT_EQ(got, c.expect) << "random access";
    } else if (node->op().name == "shuffle") {
      EXPECT_TRUE(std::ranges::is_permutation(got, c.expect)) << "random access";
    }
    for (const std::int64_t bad : {std::int64_t{-1}, std::ssize(got), INT64_MAX}) {
      if (bad > 0 && got.size() == c.most) continue;  // there may be more
      auto row = access.value()->at(bad);
      ASSERT_FALSE(row.ok()) << "at " << bad;
      EXPECT_EQ(row.error().code(), Code::kOutOfRange);
    }
  }
  EXPECT_EQ(budget.used(), 0U) << "random access keeps memory";
}

}  // namespace

void check_operator(const OperatorCase& c) {
  const NodePtr node = c.build();
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->hash(), c.build()->hash()) << "equal pipelines must hash equal";
  // By rows; and with room or time for less than that.
  for (const Demand& demand :
       {Demand{1}, Demand{2}, Demand{1000}, Demand{1000, 1}, Demand{1000, 100},
        Demand{1000, kMiB, 0}, Demand{1000, kMiB, 1000}}) {
    SCOPED_TRACE("demand of " + std::to_string(demand.rows) + " rows, " +
                 std::to_string(demand.bytes) + " bytes, " + std::to_string(demand.time_ns) +
                 " ns");
    const Opened opened = open(c.build());
    EXPECT_EQ(drain(*opened.it, demand, c.most), c.expect);
    if (c.expect.size() < c.most) {
      EXPECT_EQ(drain(*opened.it, demand, 1), std::vector<std::string>{}) << "end did not stay end";
      check_cardinality(c, node);
    }
    check_audit(opened, c.expect.size() < c.most);
  }
  check_random_access(c);
  check_refusals(c);
  if (c.checkpoint) check_checkpoints(c);
}

void check_scarcity(const std::function<NodePtr()>& build) {
  Scarcity scarcity(4 * kMiB);
  const Opened opened = open(build(), scarcity.budget());
  ASSERT_TRUE(opened.it->next(Demand::one()).ok());
  // The first element's bytes are what its stage is guaranteed from now on.
  for (const StagePtr& stage : opened.it->stage().run().stages()) stage->account()->drop_floor();
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
