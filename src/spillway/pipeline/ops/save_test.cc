#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"
#include "spillway/testing/saved_datasets.h"

namespace spillway::testing {
namespace {

using Strings = std::vector<std::string>;

TEST(Save, TellsTheNumberOfRowsOnceTheyAreThere) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/new/one";
  check_operator(
      {.build = [=] { return node("save", {{"path", path}}, {range(5)}); }, .expect = {"5"}});
  EXPECT_EQ(elements(node("load", {{"path", path}})), (Strings{"0", "1", "2", "3", "4"}));
}

TEST(Save, ReplacesWhatWasThereAndNothingElse) {
  const TemporaryFolder folder;
  folder.write("mine", "x");
  EXPECT_EQ(saved(range(5), folder.path()), Strings{"5"});
  EXPECT_EQ(saved(range(2), folder.path(), modulo(2)), Strings{"2"});
  EXPECT_EQ(files_below(folder.path()),
            (Strings{"RUN/00000000.shard", "RUN/00000001.shard", "mine", "snapshot.metadata"}));
  EXPECT_EQ(elements(node("load", {{"path", folder.path()}})), (Strings{"0", "1"}));
}

TEST(Save, AnErrorLeavesWhatWasThereBefore) {
  const TemporaryFolder folder;
  EXPECT_EQ(saved(range(3), folder.path()), Strings{"3"});
  EXPECT_EQ(saved(failing_range(9, 5), folder.path()), Strings{"!DATA_LOSS"});
  const auto bad_shard = scalar_fn([](std::int64_t x) -> Result<std::int64_t> {
    if (x == 2) return bad_data(Code::kDataLoss, "bad ", x);
    return x;
  });
  EXPECT_EQ(saved(range(9), folder.path(), bad_shard), Strings{"!DATA_LOSS"});
  EXPECT_EQ(files_below(folder.path()), (Strings{"RUN/00000000.shard", "snapshot.metadata"}));
  EXPECT_EQ(elements(node("load", {{"path", folder.path()}})), (Strings{"0", "1", "2"}));
}

TEST(Save, APassThatIsGivenUpLeavesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a";
  {
    const Opened pass = open(node("save", {{"path", path}}, {range(5)}));
    pass.run->request_stop();
    EXPECT_FALSE(pass.it->next(Demand::one()).ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path + "/snapshot.metadata"));
}

TEST(Save, WhatTensorFlowSavedIsNotReplaced) {
  const TemporaryFolder folder;
  folder.write("dataset_spec.pb", "x");
  EXPECT_EQ(saved(range(3), folder.path()), Strings{"!FAILED_PRECONDITION"});
  EXPECT_EQ(files_below(folder.path()), Strings{"dataset_spec.pb"});
}

TEST(Save, LargeRowsAndStringsGoThroughCompressed) {
  const TemporaryFolder folder;
  for (const char* compression : {"", "GZIP"}) {
    EXPECT_EQ(saved(large_rows(20), folder.path(), nullptr, compression), Strings{"20"});
    EXPECT_EQ(elements(node("load", {{"path", folder.path()}})), elements(large_rows(20)));
  }
}

TEST(Save, ManyShardsShareTheBuffers) {
  const TemporaryFolder folder;
  Budget budget(16 << 20);
  const NodePtr all =
      node("save", {{"path", folder.path()}, {"shard_func", modulo(100)}}, {range(1500)});
  const Opened pass = open(all, budget);
  EXPECT_EQ(drain(*pass.it), Strings{"1500"});
  const auto back = elements(node("load", {{"path", folder.path()}, {"cycle_length", 100}}));
  EXPECT_EQ(back, elements(range(1500)));
}

TEST(Save, WhatCannotBeStoredIsRefusedWhenItIsWritten) {
  const auto windows = node("window", {{"size", std::int64_t{2}}}, {range(4)});
  EXPECT_EQ(try_node("save", {{"path", "x"}}, {windows}).error().code(), Code::kUnimplemented);
  EXPECT_FALSE(try_node("save", {{"path", "x"}, {"compression", "ZLIB"}}, {range(1)}).ok());
  const auto vector = fn(i64_spec(Shape{2}), [](const Values& in) -> Result<Values> { return in; });
  EXPECT_FALSE(try_node("save", {{"path", "x"}, {"shard_func", vector}}, {range(1)}).ok());
}

}  // namespace
}  // namespace spillway::testing
