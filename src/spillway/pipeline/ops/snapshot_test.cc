#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"
#include "spillway/testing/saved_datasets.h"

namespace spillway::testing {
namespace {

using Strings = std::vector<std::string>;

NodePtr snapshot(NodePtr input, const std::string& path, const NamedValues& more = {}) {
  NamedValues params = {{"path", path}};
  params.insert(params.end(), more.begin(), more.end());
  return node("snapshot", params, {std::move(input)});
}
// Counts its calls; element `bad` fails.
NodePtr counted(std::int64_t stop, std::int64_t* calls, std::int64_t bad = -1) {
  return node("map", {{"map_func", scalar_fn([=](std::int64_t x) -> Result<std::int64_t> {
                         ++*calls;
                         if (x == bad) return invalid_argument("bad ", x);
                         return x;
                       })}},
              {range(stop)});
}
const Strings kFive = {"0", "1", "2", "3", "4"};

TEST(Snapshot, WritesOnceAndReadsInLaterPasses) {
  const TemporaryFolder folder;
  std::int64_t calls = 0;
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_EQ(elements(snapshot(counted(5, &calls), folder.path())), kFive);
  }
  EXPECT_EQ(calls, 5);
}

TEST(Snapshot, OwesWhatEveryOperatorOwesWhileItReads) {
  const TemporaryFolder folder;
  const std::string done = folder.path() + "/done";
  elements(snapshot(range(5), done));
  check_operator({.build = [&] { return snapshot(range(5), done); }, .expect = kFive});
}

TEST(Snapshot, APassThatEndsEarlyOrFailsLeavesNothing) {
  const TemporaryFolder folder;
  std::int64_t calls = 0;
  const auto all = snapshot(counted(5, &calls), folder.path());
  EXPECT_EQ(elements(node("take", {{"count", std::int64_t{5}}}, {all})), kFive);
  EXPECT_EQ(files_below(folder.path()), Strings{});
  const auto failing = snapshot(counted(5, &calls, 2), folder.path());
  EXPECT_EQ(elements(failing), (Strings{"0", "1", "!INVALID_ARGUMENT", "3", "4"}));
  EXPECT_EQ(elements(failing), (Strings{"0", "1", "!INVALID_ARGUMENT", "3", "4"}));
  EXPECT_EQ(files_below(folder.path()), Strings{});
}

TEST(Snapshot, PipelinesThatDifferShareAPath) {
  const TemporaryFolder folder;
  EXPECT_EQ(elements(snapshot(range(5), folder.path())), kFive);
  EXPECT_EQ(elements(snapshot(range(2), folder.path())), (Strings{"0", "1"}));
  EXPECT_EQ(elements(snapshot(range(5), folder.path())), kFive);
}

TEST(Snapshot, TwoPassesAtOnceWriteEachForItself) {
  const TemporaryFolder folder;
  std::int64_t calls = 0;
  const auto all = snapshot(counted(5, &calls), folder.path());
  const Opened a = open(all);
  const Opened b = open(all);
  drain(*a.it, Demand::one(), 2);
  drain(*b.it, Demand::one(), 2);
  EXPECT_EQ(drain(*a.it), (Strings{"2", "3", "4"}));
  EXPECT_EQ(drain(*b.it), (Strings{"2", "3", "4"}));
  EXPECT_EQ(elements(all), kFive);
  EXPECT_EQ(calls, 10);
}

TEST(Snapshot, ReaderAndShardFunctionsDecideTheOrderOfLaterPasses) {
  const TemporaryFolder folder;
  const auto flat = fn(Structure::dataset(i64_spec()), [](const Values& in) -> Result<Values> {
    const auto same = fn(Structure::dataset(i64_spec()),
                         [](const Values& shard) -> Result<Values> { return Values{shard[0]}; });
    const auto& shards = dynamic_cast<const DatasetValue&>(*in[0].variant_at(0)).node();
    return Values{make_variant(
        std::make_shared<DatasetValue>(node("flat_map", {{"map_func", same}}, {shards})))};
  });
  const NamedValues how = {{"shard_func", modulo(2)}, {"reader_func", flat}};
  EXPECT_EQ(elements(snapshot(range(5), folder.path(), how)), kFive);
  check_operator({.build = [&] { return snapshot(range(5), folder.path(), how); },
                  .expect = {"0", "2", "4", "1", "3"}});
  const NamedValues turns = {{"shard_func", modulo(2)}, {"cycle_length", std::int64_t{2}}};
  EXPECT_EQ(elements(snapshot(range(5), folder.path(), turns)), kFive);
}

TEST(Snapshot, ShardFunctionsThatFailLoseTheirElementAndTheSnapshot) {
  const TemporaryFolder folder;
  const auto bad = scalar_fn([](std::int64_t x) -> Result<std::int64_t> {
    if (x == 1) return bad_data(Code::kDataLoss, "bad ", x);
    return x;
  });
  EXPECT_EQ(elements(snapshot(range(4), folder.path(), {{"shard_func", bad}})),
            (Strings{"0", "!DATA_LOSS", "2", "3"}));
  EXPECT_EQ(files_below(folder.path()), Strings{});
}

TEST(Snapshot, DamagedMetadataAreToldOnceThenThePassEnds) {
  const TemporaryFolder folder;
  elements(snapshot(range(5), folder.path()));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.path().filename() == "snapshot.metadata") replace_content(entry.path(), "{");
  }
  EXPECT_EQ(elements(snapshot(range(5), folder.path())), Strings{"!DATA_LOSS"});
}

}  // namespace
}  // namespace spillway::testing
