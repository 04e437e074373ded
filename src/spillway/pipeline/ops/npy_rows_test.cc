#include <gtest/gtest.h>

#include <filesystem>

#include "spillway/testing/file_pipelines.h"
#include "spillway/testing/operator_conformance.h"

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
