#include "spillway/io/file_check.h"

#include <gtest/gtest.h>

#include "spillway/io/formats/tfrecord.h"
#include "spillway/testing/files.h"

namespace spillway::testing {
namespace {

class FileCheck : public ::testing::Test {
 protected:
  // The format, or "!" and the error's message.
  std::string check(const std::string& name, std::string_view content, std::string_view text = "",
                    std::string_view format = "") {
    const std::string path = folder_.write(name, content);
    const AccountPtr account = Budget::process().open_account("test");
    const auto done = check_file(path, format, text, {account});
    if (done.ok()) return std::string(done.value().format);
    if (done.error().info().file != path) return "does not name its file";
    return "!" + std::string(done.error().message());
  }
  static bool says(const std::string& message, std::string_view part) {
    return message.starts_with('!') && message.find(part) != std::string::npos;
  }
  const TemporaryFolder folder_;
};

TEST_F(FileCheck, NameOrContentTellsTheFormat) {
  const std::string records = framed_tfrecord("one") + framed_tfrecord("two");
  EXPECT_EQ(check("a.tfrecord", records), "tfrecord");
  EXPECT_EQ(check("a.TFRecord", records), "tfrecord");
  EXPECT_EQ(check("b", records), "tfrecord");
  EXPECT_EQ(check("c.tfrecord.gz", compressed(records, Packed::kGzip)), "tfrecord");
  EXPECT_EQ(check("d.bin", "whatever"), "");
  EXPECT_EQ(check("d.gz", compressed("whatever", Packed::kGzip)), "gzip");
  EXPECT_EQ(check("e.bin", records, "", "tfrecord"), "tfrecord");
  EXPECT_EQ(check("f.txt", "text"), "text");
}

TEST_F(FileCheck, ANameThatPromisesWhatTheContentIsNotIsDamage) {
  EXPECT_TRUE(says(check("a.jpg", "<html>"), "expected the first bytes of one, found 0x3C 0x68"));
  EXPECT_TRUE(says(check("a.npy", "<html>hello"), "not an .npy file"));
  EXPECT_TRUE(says(check("a.tfrecord", "<html>hello, world"), "the length's checksum"));
  EXPECT_TRUE(says(check("a.gz", "<html>"), "inflate() failed"));
}

TEST_F(FileCheck, NothingIsNoFileOfAnyFormat) {
  for (const char* name : {"a.jpg", "a.tfrecord", "a.npy", "a.txt", "a.gz", "a"}) {
    EXPECT_TRUE(says(check(name, ""), "the file is empty: expected content, found 0 bytes"));
  }
}

TEST_F(FileCheck, TextIsLookedAtWhenAsked) {
  EXPECT_EQ(check("a.txt", "\xFF"), "text");
  EXPECT_TRUE(says(check("a.txt", "\xFF", "utf-8"), "not UTF-8"));
  EXPECT_TRUE(says(check("a.txt.gz", compressed("a\xFF", Packed::kGzip), "utf-8"), "at byte 1"));
  EXPECT_TRUE(says(check("unknown", "\xFF", "utf-8"), "not UTF-8"));
  EXPECT_EQ(check("unknown", "\xC3\xA9", "utf-8"), "text");
}

TEST_F(FileCheck, RefusesWhatItDoesNotKnow) {
  const AccountPtr account = Budget::process().open_account("test");
  const std::string path = folder_.write("a", "x");
  EXPECT_EQ(check_file(path, "docx", "", {account}).error().kind(), ErrorKind::kUser);
  EXPECT_EQ(check_file(path, "", "latin1", {account}).error().kind(), ErrorKind::kUser);
  EXPECT_EQ(check_file("/nowhere/x", "", "", {account}).error().code(), Code::kNotFound);
}

TEST_F(FileCheck, WhatDoesNotFitTheBudgetIsNamed) {
  Budget budget(100'000);
  const std::string path = folder_.write("a.jpg", std::string(300'000, 'x'));
  const AccountPtr account = budget.open_account("small");
  const auto done = check_file(path, "", "", {account, Buffer::Ask::kOptional});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().kind(), ErrorKind::kResource);
  EXPECT_EQ(done.error().info().file, path);
}

}  // namespace
}  // namespace spillway::testing
