#include <gmock/gmock.h>

#include "spillway/testing/files.h"
#include "spillway/testing/op_call.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;

TEST(CheckFileOp, TellsFormatAndSize) {
  const TemporaryFolder folder;
  const auto made = call_op("check_file", {string_of(folder.write("a.txt", "text\n"))});
  ASSERT_TRUE(made.ok()) << error_of(made);
  EXPECT_THAT(strings_in(made.value()[0]), ElementsAre("text"));
  EXPECT_THAT(items_in<std::int64_t>(made.value()[1]), ElementsAre(5));
}

TEST(CheckFileOp, NamesFileAndOffset) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.txt", "text\xFF");
  const auto made = call_op("check_file", {string_of(path)}, {{"text", std::string("utf-8")}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().info().file, path);
  EXPECT_EQ(made.error().info().offset, 4);
  EXPECT_FALSE(call_op("check_file", {strings_of({"a"})}).ok());
}

}  // namespace
}  // namespace spillway::testing
