#include "spillway/io/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "spillway/io/regular_file.h"
#include "spillway/testing/files.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

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
}

// Nobody writes to the FIFO: opening it would wait for ever.
TEST(File, OnlyRegularFilesAreOpened) {
  const TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string link = folder.path() + "/link";
  ASSERT_EQ(symlink("/dev/zero", link.c_str()), 0);
  for (const auto& [path, kind] : {std::pair(pipe, "a FIFO"), std::pair(link, "a character device"),
                                   std::pair(std::string("/dev/null"), "a character device")}) {
    for (const Status& refused :
         {open_file(path).status(), refuse_special(path), open_regular(path, O_RDONLY).status(),
          open_regular(path, O_WRONLY | O_CREAT | O_APPEND, 0600).status()}) {
      EXPECT_EQ(refused.code(), Code::kInvalidArgument);
      EXPECT_EQ(refused.info().file, path);
      EXPECT_THAT(std::string(refused.message()), HasSubstr(kind));
    }
  }
  EXPECT_TRUE(refuse_special(folder.path() + "/none").ok());
}

TEST(File, OneThatSaysItIsEmptyAndIsNotIsRefused) {
  const auto file = open_file("/proc/self/status");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.error().message()), HasSubstr("0 bytes and has more"));
  const TemporaryFolder folder;
  EXPECT_TRUE(open_file(folder.write("a", "")).ok());
}

// What was done to a file while it was open, and what the next read says.
std::string after(const std::function<void(const std::string& path)>& change) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "0123456789");
  const auto file = open_file(path).value();
  std::byte out[4];
  EXPECT_TRUE(file->read(0, out).ok());
  change(path);
  const auto got = file->read(4, out);
  if (got.ok()) return file->read(0, out).ok() ? "" : "later";
  EXPECT_EQ(got.error().code(), Code::kDataLoss);
  EXPECT_EQ(got.error().info().file, path);
  return std::string(got.error().message());
}

void rewrite(const std::string& path) {
  std::fstream(path, std::ios::in | std::ios::out) << "9876543210";
}

TEST(File, OneThatIsWrittenToWhileItIsReadIsDataLoss) {
  EXPECT_THAT(after(rewrite), HasSubstr("the time of its last change: expected "));
  EXPECT_THAT(after([](const std::string& path) {
                struct stat before{};
                ::stat(path.c_str(), &before);
                rewrite(path);
                const timespec times[2] = {before.st_atim, before.st_mtim};
                ::utimensat(AT_FDCWD, path.c_str(), times, 0);
              }),
              HasSubstr("its status was changed (ctime)"));
  EXPECT_THAT(after([](const std::string& path) { std::ofstream(path, std::ios::app) << "more"; }),
              HasSubstr("the size: expected 10 bytes, found 14"));
  EXPECT_THAT(after([](const std::string& path) {
                std::ofstream(path + ".new") << "0123456789";
                std::filesystem::rename(path + ".new", path);
              }),
              HasSubstr("another file has its name now"));
}

TEST(File, OneThatOthersAppendToIsReadAsItWas) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "0123456789");
  const auto file = open_growing_file(path).value();
  std::ofstream(path, std::ios::app) << "more";
  EXPECT_EQ(text_of(*file, 0, 20), "0123456789");
  std::filesystem::resize_file(path, 4);
  std::byte out[4];
  EXPECT_EQ(file->read(0, out).error().code(), Code::kDataLoss);
}

TEST(File, NewPermissionsLinksOrTheLossOfItsNameChangeNothing) {
  EXPECT_EQ(after([](const std::string& path) { ::chmod(path.c_str(), 0400); }), "");
  EXPECT_EQ(after([](const std::string& path) { std::filesystem::remove(path); }), "");
  EXPECT_EQ(after([](const std::string& path) {
              std::filesystem::create_hard_link(path, path + ".backup");
            }),
            "");
  EXPECT_EQ(after([](const std::string& path) { std::filesystem::rename(path, path + ".old"); }),
            "");
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
