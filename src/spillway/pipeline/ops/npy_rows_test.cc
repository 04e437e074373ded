#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "spillway/testing/file_pipelines.h"
#include "spillway/testing/operator_conformance.h"
#include "spillway/testing/zip_archives.h"

namespace spillway::testing {
namespace {

// int64 numbers begin, begin + 1, ... as an .npy file.
std::string counting(std::int64_t begin, std::int64_t rows) {
  std::string dictionary =
      "{'descr': '<i8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ",), }";
  dictionary.resize(118 - 1, ' ');
  std::string out = std::string("\x93NUMPY\x01\0\x76\0", 10) + dictionary + "\n";
  for (std::int64_t i = begin; i < begin + rows; ++i) {
    out.append(reinterpret_cast<const char*>(&i), sizeof i);
  }
  return out;
}

NodePtr rows_of(const ElementPtr& paths) { return node("npy_rows", {{"filenames", paths}}); }

TEST(NpyRows, ReadsFilesOneAfterTheOther) {
  const TemporaryFolder folder;
  const auto paths = files({folder.write("a", counting(0, 2)), folder.write("b", counting(0, 0)),
                            folder.write("c", counting(2, 3))});
  check_operator({.build = [=] { return rows_of(paths); }, .expect = {"0", "1", "2", "3", "4"}});
}

TEST(NpyRows, AFileThatIsGoneWhenItIsReadIsOneErrorInItsPlace) {
  const TemporaryFolder folder;
  const auto paths = files({folder.write("a", counting(0, 2)), folder.write("b", counting(2, 2)),
                            folder.write("c", counting(4, 2))});
  const NodePtr all = rows_of(paths);
  std::filesystem::remove(folder.path() + "/b");
  EXPECT_EQ(elements(all), (std::vector<std::string>{"0", "1", "!NOT_FOUND", "4", "5"}));
}

TEST(NpyRows, AFileThatIsReplacedSinceIsOneErrorInItsPlace) {
  const TemporaryFolder folder;
  const auto paths = files({folder.write("a", counting(0, 2)), folder.write("b", counting(2, 2))});
  const NodePtr all = rows_of(paths);
  folder.write("a", counting(0, 7));
  EXPECT_EQ(elements(all), (std::vector<std::string>{"!DATA_LOSS", "2", "3"}));
}

TEST(NpyRows, InStepWithOthersEveryRowOfABadFileIsAnError) {
  const TemporaryFolder folder;
  const auto paths = files({folder.write("a", counting(0, 2)), folder.write("b", counting(2, 3)),
                            folder.write("c", counting(5, 1))});
  const NodePtr all = node("npy_rows", {{"filenames", paths}, {"aligned", true}});
  std::filesystem::remove(folder.path() + "/b");
  EXPECT_EQ(elements(all),
            (std::vector<std::string>{"0", "1", "!NOT_FOUND", "!NOT_FOUND", "!NOT_FOUND", "5"}));
}

TEST(NpyRows, ReadsAnArrayOfArchives) {
  const TemporaryFolder folder;
  ZipArchive one;
  one.add("x.npy", counting(0, 2));
  one.add("y.npy", counting(100, 2), true);
  ZipArchive two;
  two.add("y.npy", counting(102, 2000), true);
  const auto paths =
      files({folder.write("a.npz", one.finished()), folder.write("b.npz", two.finished())});
  std::vector<std::string> expect;
  for (int i = 100; i < 2102; ++i) expect.push_back(std::to_string(i));
  const auto build = [=] {
    return node("npy_rows", {{"filenames", paths}, {"member", std::string("y")}});
  };
  EXPECT_EQ(elements(build()), expect);
  const auto first = files({folder.path() + "/a.npz"});
  check_operator(
      {.build =
           [=] { return node("npy_rows", {{"filenames", first}, {"member", std::string("y")}}); },
       .expect = {"100", "101"}});
}

// The rows before the damage come first, however many are asked for.
TEST(NpyRows, ADamagedArchiveGivesTheRowsBeforeIt) {
  const TemporaryFolder folder;
  ZipArchive archive;
  archive.add("y.npy", counting(0, 20'000), true);
  std::string content = archive.finished();
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 0x55);
  const auto paths = files({folder.write("a.npz", content)});
  const auto got =
      elements(node("npy_rows", {{"filenames", paths}, {"member", std::string("y")}}), 30'000);
  ASSERT_GT(got.size(), 1000U);
  EXPECT_EQ(got.back(), "!DATA_LOSS");
  EXPECT_EQ(std::ranges::count(got, "!DATA_LOSS"), 1);
}

TEST(NpyRows, FilesWhoseRowsDifferAreRefusedWhenTheDatasetIsBuilt) {
  const TemporaryFolder folder;
  std::string other = counting(0, 2);
  other.replace(other.find("<i8"), 3, "<u8");
  const auto made = try_node(
      "npy_rows",
      {{"filenames", files({folder.write("a", counting(0, 2)), folder.write("b", other)})}});
  ASSERT_FALSE(made.ok());
  const std::string message(made.error().message());
  EXPECT_NE(message.find("/b has uint64 (), "), std::string::npos) << message;
  EXPECT_NE(message.find("/a has int64 ()"), std::string::npos) << message;
}

}  // namespace
}  // namespace spillway::testing
