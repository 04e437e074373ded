#include <gmock/gmock.h>

#include "spillway/testing/files.h"
#include "spillway/testing/op_call.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;

TEST(ReadFileOp, ReadsTheWholeFile) {
  const TemporaryFolder folder;
  const std::string content = std::string(100'000, 'x') + std::string("\0y", 2);
  const auto read = [](const std::string& path) {
    return strings_in(one_of(call_op("read_file", {string_of(path)})));
  };
  EXPECT_THAT(read(folder.write("a", content)), ElementsAre(content));
  EXPECT_THAT(read(folder.write("b", "")), ElementsAre(""));
}

TEST(ReadFileOp, NamesTheFileThatIsNotThere) {
  const auto got = call_op("read_file", {string_of("/nowhere/x")});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), Code::kNotFound);
  EXPECT_EQ(got.error().info().file, "/nowhere/x");
  EXPECT_EQ(call_op("read_file", {string_of("/")}).error().code(), Code::kFailedPrecondition);
  EXPECT_FALSE(call_op("read_file", {strings_of({"a"})}).ok());
}

TEST(ReadFileOp, ReservesTheSizeFirst) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", std::string(300'000, 'x'));
  Budget budget(100'000);
  const Tensor name = string_of(path);
  const auto got = graph::run_op(*graph::find_op("read_file"), {&name, 1}, {},
                                 budget.open_account("small"), Buffer::Ask::kOptional, {});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind(), ErrorKind::kResource);
}

TEST(MatchingFilesOp, SortsWhatSeveralPatternsMatch) {
  const TemporaryFolder folder;
  const std::string b = folder.write("b.png", "");
  const std::string a = folder.write("a.png", "");
  folder.write("c.txt", "");
  const Tensor patterns = strings_of({folder.path() + "/b*", folder.path() + "/a.png"});
  EXPECT_THAT(strings_in(one_of(call_op("matching_files", {patterns}))), ElementsAre(a, b));
  EXPECT_THAT(strings_in(one_of(call_op("matching_files", {string_of("/nowhere/*")}))),
              ElementsAre());
}

}  // namespace
}  // namespace spillway::testing
