#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"
#include "spillway/testing/saved_datasets.h"

namespace spillway::testing {
namespace {

TEST(LoadShards, IsADatasetForEachShardInTheOrderOfTheirIds) {
  const TemporaryFolder folder;
  saved(range(7), folder.path(),
        scalar_fn([](std::int64_t x) -> Result<std::int64_t> { return 100 - x % 3; }));
  const auto same = fn(Structure::dataset(i64_spec()),
                       [](const Values& in) -> Result<Values> { return Values{in[0]}; });
  check_operator({.build =
                      [=, &folder] {
                        return node("flat_map", {{"map_func", same}},
                                    {node("load_shards", {{"path", folder.path()}})});
                      },
                  .expect = {"2", "5", "1", "4", "0", "3", "6"}});
  EXPECT_EQ(node("load_shards", {{"path", folder.path()}})->cardinality(), 3);
}

}  // namespace
}  // namespace spillway::testing
