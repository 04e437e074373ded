#include "spillway/io/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "spillway/testing/files.h"

namespace spillway::testing {
namespace {

std::string text_of(const File& file, std::uint64_t offset, std::size_t n) {
  std::string out(n, '\0');
  const auto got = file.read(offset, std::as_writable_bytes(std::span(out)));
  EXPECT_TRUE(got.ok()) << got.error().message();
  out.resize(got.ok() ? got.value() : 0);
  return out;
}

TEST(File, ReadsAtAnyPositionUpToItsEnd) {
  const TemporaryFolder folder;
  const auto file = open_file(folder.write("a", "0123456789"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file.value()->size(), 10U);
  EXPECT_EQ(text_of(*file.value(), 3, 4), "3456");
  EXPECT_EQ(text_of(*file.value(), 8, 10), "89");
  EXPECT_EQ(text_of(*file.value(), 10, 1), "");
}

TEST(File, WhatCannotBeOpenedIsNamedWithItsClass) {
  const TemporaryFolder folder;
  const auto code = [](const std::string& path) {
    const auto file = open_file(path);
    EXPECT_FALSE(file.ok());
    if (file.ok()) return Code::kOk;
    EXPECT_NE(file.error().message().find(path.substr(0, path.find('\0'))), std::string::npos);
    return file.error().code();
  };
  EXPECT_EQ(code(folder.path() + "/none"), Code::kNotFound);
  EXPECT_EQ(code(folder.path()), Code::kFailedPrecondition);
  EXPECT_EQ(code(folder.write("a", "") + "/b"), Code::kNotFound);
  EXPECT_EQ(code("s3://bucket/key"), Code::kUnimplemented);
  EXPECT_EQ(code(std::string("a\0b", 3)), Code::kInvalidArgument);
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int keeps = ::open(pipe.c_str(), O_RDWR);  // opening it must not wait for a writer
  EXPECT_EQ(code(pipe), Code::kInvalidArgument);
  ::close(keeps);
}

TEST(File, OneThatShrinksWhileItIsReadIsDataLoss) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "0123456789");
  const auto file = open_file(path).value();
  std::filesystem::resize_file(path, 4);
  std::byte out[10];
  const auto got = file->read(0, out);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), Code::kDataLoss);
  EXPECT_EQ(got.error().info().offset, 4);
  EXPECT_NE(got.error().message().find("expected 10 bytes, found 4"), std::string::npos);
}

TEST(File, AFailedReadNamesTheOffset) {
  std::byte out[10];
  const auto got = file_of({"0123456789", 3, 6})->read(1, out);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind(), ErrorKind::kTransient);
  EXPECT_EQ(got.error().info().offset, 6);
}

// With eight descriptors left, a hundred files are read by turns.
TEST(File, MoreFilesAreReadThanMayBeOpen) {
  const TemporaryFolder folder;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const int highest = dup(0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(highest) + 8;
  close(highest);
  std::vector<std::string> paths;
  paths.reserve(100);
  for (int i = 0; i < 100; ++i) {
    paths.push_back(folder.write(std::to_string(i), std::to_string(i)));
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<FilePtr> files;
  for (const std::string& path : paths) {
    auto file = open_file(path);
    EXPECT_TRUE(file.ok());
    if (file.ok()) files.push_back(std::move(file).value());
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(text_of(*files[i], 0, 10), std::to_string(i));
    }
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(File, AStoreBringsItsOwnFiles) {
  set_file_opener("mem",
                  [](const std::string& path) -> Result<FilePtr> { return file_of({path}); });
  EXPECT_EQ(text_of(*open_file("mem://x").value(), 0, 100), "mem://x");
  set_file_opener("mem", nullptr);
  EXPECT_FALSE(open_file("mem://x").ok());
}

}  // namespace
}  // namespace spillway::testing
