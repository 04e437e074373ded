#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"
#include "spillway/testing/saved_datasets.h"

namespace spillway::testing {
namespace {

NamedValues parameters(const std::string& folder) {
  const std::string shard = only_shard(folder);
  const std::string run = shard.substr(shard.rfind('/') - 16, 16);
  return {{"path", folder},
          {"run", run},
          {"shard", std::int64_t{0}},
          {"rows", std::int64_t{3}},
          {"bytes", static_cast<std::int64_t>(content_of(shard).size())},
          {"element_spec", i64_spec()}};
}

TEST(SavedShard, IsTheRowsOfOneFile) {
  const TemporaryFolder folder;
  saved(range(3), folder.path());
  check_operator({.build = [&] { return node("saved_shard", parameters(folder.path())); },
                  .expect = {"0", "1", "2"}});
}

TEST(SavedShard, StaysInItsFolder) {
  const TemporaryFolder folder;
  saved(range(3), folder.path());
  NamedValues params = parameters(folder.path());
  params[1].second = std::string("../../../../etc/");
  EXPECT_FALSE(try_node("saved_shard", params).ok());
}

}  // namespace
}  // namespace spillway::testing
