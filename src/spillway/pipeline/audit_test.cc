#include "spillway/pipeline/audit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "spillway/pipeline/consumer.h"
#include "spillway/testing/pipelines.h"

namespace spillway::testing {
namespace {

// total = delivered + filtered + skipped + failed + dropped + held
struct Totals {
  std::int64_t total, delivered, filtered = 0, skipped = 0, failed = 0, dropped = 0, held = 0;
  bool operator==(const Totals&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Totals& t) {
    return out << "total " << t.total << ", delivered " << t.delivered << ", filtered "
               << t.filtered << ", skipped " << t.skipped << ", failed " << t.failed << ", dropped "
               << t.dropped << ", held " << t.held;
  }
};

Totals totals(const Audit& a) {
  return {a.total, a.delivered, a.filtered, a.skipped, a.failed, a.dropped, a.held};
}

// What a consumer's audit says after at most `events` elements and errors.
Audit audit_after(const NodePtr& node, std::size_t events = 10'000) {
  RunOptions options;
  options.read_ahead_ns = 0;
  auto consumer = Consumer::open(node, options).value();
  for (std::size_t i = 0; i < events; ++i) {
    const Next next = consumer->next();
    if (next.ok() && !next.value()) break;
    if (next.ok()) consumer->handed_out(next.value()->rows());
  }
  return consumer->audit();
}
Totals after(const NodePtr& node, std::size_t events = 10'000) {
  return totals(audit_after(node, events));
}

std::vector<std::string> entries(const Audit& audit) {
  std::vector<std::string> out;
  out.reserve(audit.entries.size());
  for (const AuditEntry& entry : audit.entries) {
    out.push_back(entry.outcome + " " + entry.why.info().stage + " " +
                  std::to_string(entry.weight));
  }
  return out;
}
using Texts = std::vector<std::string>;

NodePtr flat(NodePtr input, std::function<NodePtr(std::int64_t)> made) {
  return node("flat_map", {{"map_func", dataset_fn(std::move(made))}}, {std::move(input)});
}
NodePtr kept(NodePtr input, std::function<bool(std::int64_t)> keep) {
  return node("filter", {{"predicate", predicate(std::move(keep))}}, {std::move(input)});
}
NodePtr skipping(NodePtr input, NamedValues more = {}) {
  more.emplace_back("action", std::string("skip"));
  return node("on_error", more, {std::move(input)});
}
bool even(std::int64_t x) { return x % 2 == 0; }

TEST(Audit, AnElementSkippedFurtherOnIsSkippedOnceWhereItFailed) {
  const Audit audit = audit_after(skipping(failing_range(4, 1)));
  EXPECT_EQ(totals(audit), (Totals{.total = 4, .delivered = 3, .skipped = 1}));
  EXPECT_EQ(entries(audit), Texts{"skipped map#1 1"});
  EXPECT_EQ(audit.stages[1].skipped, 1);
  EXPECT_EQ(after(node("ignore_errors", {}, {failing_range(4, 1)})),
            (Totals{.total = 4, .delivered = 3, .skipped = 1}));
}

TEST(Audit, TooManyErrorsIsOneFailure) {
  const Audit audit = audit_after(skipping(failing_range(4, 1), {{"max_errors", std::int64_t{0}}}));
  EXPECT_EQ(totals(audit), (Totals{.total = 4, .delivered = 3, .failed = 1}));
  ASSERT_EQ(entries(audit), Texts{"failed map#1 1"});
  EXPECT_EQ(audit.entries[0].why.info().type, "TooManyErrors");
}

TEST(Audit, RowsOfNestedDatasetsCountInPlaceOfTheElementsTheyWereMadeOf) {
  EXPECT_EQ(after(flat(range(2), [](std::int64_t) { return range(3); })),
            (Totals{.total = 6, .delivered = 6}));
  EXPECT_EQ(after(flat(kept(range(10), even), [](std::int64_t x) { return range(x); })),
            (Totals{.total = 25, .delivered = 20, .filtered = 5}));
  EXPECT_EQ(after(flat(range(4), [](std::int64_t x) { return kept(range(x), even); })),
            (Totals{.total = 6, .delivered = 4, .filtered = 2}));
}

TEST(Audit, AnErrorInsideANestedDatasetCountsOnceAtItsStage) {
  const auto failing = [](std::int64_t) { return failing_range(3, 0); };
  const Audit raised = audit_after(flat(range(2), failing));
  EXPECT_EQ(totals(raised), (Totals{.total = 6, .delivered = 4, .failed = 2}));
  const Audit skipped = audit_after(skipping(flat(range(2), failing)));
  EXPECT_EQ(totals(skipped), (Totals{.total = 6, .delivered = 4, .skipped = 2}));
  EXPECT_EQ(entries(skipped), (Texts{"skipped flat_map#1/map 1", "skipped flat_map#1/map 1"}));
  const auto stage =
      std::ranges::find(skipped.stages, std::string("flat_map#1/map"), &StageAudit::name);
  ASSERT_NE(stage, skipped.stages.end());
  EXPECT_EQ(stage->skipped, 2);
  EXPECT_EQ(stage->in, 6);
}

TEST(Audit, LossesBehindABatchAreInSourceRowsAndTheStagesInTheirOwn) {
  const auto none = predicate([](std::int64_t) { return false; });
  const Audit audit =
      audit_after(node("filter", {{"predicate", none}}, {batches_of(4, range(10))}));
  EXPECT_EQ(totals(audit), (Totals{.total = 10, .delivered = 0, .filtered = 10}));
  EXPECT_EQ(audit.stages[2].filtered, 3);
}

TEST(Audit, ANodeReadTwiceCountsWhatEachReaderGot) {
  const NodePtr r = range(10);
  EXPECT_EQ(after(node("concatenate", {}, {r, r})), (Totals{.total = 20, .delivered = 20}));
  const NodePtr both = node("zip", {}, {r, kept(r, even)});
  EXPECT_EQ(after(both).delivered, 5);
  EXPECT_EQ(after(both).held, 0);
}

TEST(Audit, ChoicesAndWhatGoesAlongAreNoSourceRows) {
  EXPECT_EQ(after(node("choose_from_datasets", {}, {range(1), range(5), range(5)})),
            (Totals{.total = 1, .delivered = 1}));
  EXPECT_EQ(after(node("zip", {}, {range(3), range(3)})), (Totals{.total = 3, .delivered = 3}));
}

TEST(Audit, TheSecondPassOverACacheMakesItsRows) {
  const NodePtr cached = node("cache", {}, {range(10)});
  EXPECT_EQ(after(cached), (Totals{.total = 10, .delivered = 10}));
  EXPECT_EQ(after(cached), (Totals{.total = 10, .delivered = 10}));
}

TEST(Audit, AShuffleByIndexMakesItsRows) {
  const NodePtr shuffled =
      node("shuffle", {{"buffer_size", std::int64_t{5}}, {"seed", std::int64_t{1}}}, {range(10)});
  EXPECT_EQ(after(shuffled), (Totals{.total = 10, .delivered = 10}));
  EXPECT_EQ(after(shuffled, 3), (Totals{.total = 3, .delivered = 3}));
}

TEST(Audit, OverlappingWindowsCountARowOnce) {
  const NamedValues by_one = {{"size", std::int64_t{3}}, {"shift", std::int64_t{1}}};
  EXPECT_EQ(after(node("window", by_one, {range(10)})), (Totals{.total = 10, .delivered = 10}));
}

TEST(Audit, RowsLeftInAnIteratorClosedEarlyAreHeld) {
  EXPECT_EQ(after(node("unbatch", {}, {batches_of(4, range(8))}), 2),
            (Totals{.total = 4, .delivered = 2, .held = 2}));
}

TEST(Audit, RowsStillHeldWhenTheDataEndsAreDropped) {
  const NodePtr window_of_all =
      node("group_by_window",
           {{"key_func", scalar_fn([](std::int64_t) { return 0; })},
            {"reduce_func", fn(Structure::dataset(i64_spec()),
                               [](const Values& v) -> Result<Values> { return Values{v[1]}; })},
            {"window_size", std::int64_t{10}}},
           {range(10)});
  const NodePtr cut = node("take", {{"count", std::int64_t{3}}}, {window_of_all});
  const Audit audit = audit_after(cut);
  EXPECT_EQ(totals(audit), (Totals{.total = 10, .delivered = 3, .dropped = 7}));
  EXPECT_EQ(entries(audit), Texts{"dropped group_by_window#1/window_rows 7"});
  EXPECT_EQ(after(cut, 2), (Totals{.total = 10, .delivered = 2, .held = 8}));
}

TEST(Audit, WhatABatchLosesHasAnEntry) {
  const Audit audit = audit_after(batches_of(4, range(10), true));
  EXPECT_EQ(totals(audit), (Totals{.total = 10, .delivered = 8, .dropped = 2}));
  EXPECT_EQ(entries(audit), Texts{"dropped batch#1 2"});
}

}  // namespace
}  // namespace spillway::testing
