#include <gtest/gtest.h>

#include "spillway/testing/file_pipelines.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

TEST(FixedLengthRecordsOperator, ReadsFilesOneAfterTheOther) {
  const TemporaryFolder folder;
  const auto paths =
      files({folder.write("a", "HonetwoF"), folder.write("b", "HxF"), folder.write("c", "HsixF")});
  check_operator({.build =
                      [=] {
                        return node("fixed_length_records", {{"filenames", paths},
                                                             {"record_bytes", std::int64_t{3}},
                                                             {"header_bytes", std::int64_t{1}},
                                                             {"footer_bytes", std::int64_t{1}}});
                      },
                  .expect = {"'one'", "'two'", "!INVALID_ARGUMENT", "'six'"}});
}

TEST(FixedLengthRecordsOperator, RefusesLengthsThatAreNone) {
  for (const char* name : {"record_bytes", "header_bytes", "footer_bytes"}) {
    NamedValues params = {{"filenames", files({"a"})}, {"record_bytes", std::int64_t{3}}};
    if (std::string_view(name) == "record_bytes") params.pop_back();
    params.emplace_back(name, std::int64_t{-1});
    EXPECT_FALSE(try_node("fixed_length_records", params).ok()) << name;
  }
}

}  // namespace
}  // namespace spillway::testing
