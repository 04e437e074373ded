#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

class ListFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    // One a process: tests of this file may run at the same time.
    dir_ = ::testing::TempDir() + "list_files_test_" + std::to_string(getpid());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_ + "/sub");
    for (const char* name : {"b", "a", "d.txt", "c.txt", ".hid.txt", "sub/z.txt"}) {
      std::ofstream(dir_ + "/" + name).put(0);
    }
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  Result<NodePtr> list(std::vector<std::string> patterns) const {
    for (std::string& pattern : patterns) pattern.insert(0, dir_);
    const std::vector<std::string_view> views(patterns.begin(), patterns.end());
    const Shape shape{static_cast<std::int64_t>(views.size())};
    const Tensor tensor =
        make_strings(Budget::process().open_account("test"), shape, views).value();
    return try_node("list_files", {{"file_pattern",
                                    element(Structure::tensor(DType::kString, shape), {tensor})}});
  }
  std::vector<std::string> quoted(std::vector<std::string> names) const {
    for (std::string& name : names) name.insert(0, "\x27" + dir_).append("\x27");
    return names;
  }

  std::string dir_;
};

TEST_F(ListFiles, ListsMatchesSorted) {
  check_operator({.build = [&] { return list({"/*.txt"}).value(); },
                  .expect = quoted({"/.hid.txt", "/c.txt", "/d.txt"})});
  check_operator(
      {.build = [&] { return list({"/[ab]"}).value(); }, .expect = quoted({"/a", "/b"})});
  check_operator(
      {.build = [&] { return list({"/*/z*"}).value(); }, .expect = quoted({"/sub/z.txt"})});
}

TEST_F(ListFiles, SortsAllPatternsTogetherAndKeepsWhatMatchesTwice) {
  check_operator({.build = [&] { return list({"/[cd].txt", "/nothing*", "/a", "/c*"}).value(); },
                  .expect = quoted({"/a", "/c.txt", "/c.txt", "/d.txt"})});
}

TEST_F(ListFiles, KeepsAPathAsItWasWritten) {
  check_operator(
      {.build = [&] { return list({"/sub/../a*"}).value(); }, .expect = quoted({"/sub/../a"})});
  check_operator({.build = [&] { return list({"//a"}).value(); }, .expect = quoted({"//a"})});
}

TEST_F(ListFiles, RefusesPatternsThatMatchNothing) {
  const auto made = list({"/zz*", "/yy"});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(made.error().message(), "No files matched pattern: " + dir_ + "/zz*, " + dir_ + "/yy");
}

TEST_F(ListFiles, LooksOnceWhenTheDatasetIsBuilt) {
  const NodePtr files = list({"/[ab]"}).value();
  std::filesystem::remove(dir_ + "/a");
  EXPECT_EQ(elements(files), quoted({"/a", "/b"}));
}

}  // namespace
}  // namespace spillway::testing
