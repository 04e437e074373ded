#include "spillway/io/formats/zip_member.h"

#include <gtest/gtest.h>

#include "spillway/testing/files.h"
#include "spillway/testing/zip_archives.h"

namespace spillway::testing {
namespace {

using Claims = ZipArchive::Claims;

std::string numbers(std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += std::to_string(out.size()) + " ";
  out.resize(bytes);
  return out;
}

FilePtr opened(std::string_view content, bool deflate, Claims claims = {}) {
  ZipArchive archive;
  archive.add("m", content, deflate, std::move(claims));
  const FilePtr file = file_of({archive.finished(), 1000});
  const AccountPtr account = Budget::process().open_account("test");
  const auto members = read_zip_directory(*file, account);
  EXPECT_TRUE(members.ok()) << members.error().message();
  return open_zip_member(file, members.value()[0], account).value();
}
Result<std::string> part(const File& file, std::uint64_t at, std::size_t bytes) {
  std::string out(bytes, '\0');
  SW_ASSIGN(const std::size_t got, file.read(at, std::as_writable_bytes(std::span(out))));
  out.resize(got);
  return out;
}
std::string said(const File& file, std::size_t bytes) {
  const auto got = part(file, 0, bytes);
  return got.ok() ? "nothing" : std::string(got.error().message());
}

TEST(ZipMember, IsReadInAnyOrder) {
  const std::string content = numbers(300'000);
  for (const bool deflate : {false, true}) {
    const FilePtr file = opened(content, deflate);
    EXPECT_EQ(file->path(), "memory.file:m");
    EXPECT_EQ(file->size(), content.size());
    for (const std::uint64_t at : {0, 10, 200'000, 5, 299'990, 0, 100'000}) {
      EXPECT_EQ(part(*file, at, 10).value(), content.substr(at, 10)) << at;
    }
    EXPECT_EQ(part(*file, 0, content.size()).value(), content);
    EXPECT_EQ(part(*file, 299'995, 100).value(), content.substr(299'995));
  }
}

TEST(ZipMember, TheChecksumIsComparedWithTheLastByte) {
  const std::string content = numbers(100'000);
  for (const bool deflate : {false, true}) {
    const FilePtr file = opened(content, deflate, {.crc_xor = 1});
    EXPECT_EQ(part(*file, 0, 50'000).value().size(), 50'000U);
    const auto rest = part(*file, 50'000, 50'000);
    ASSERT_FALSE(rest.ok());
    EXPECT_NE(rest.error().message().find("the checksum of the member: expected "),
              std::string_view::npos);
    EXPECT_EQ(rest.error().info().file, "memory.file:m");
  }
}

TEST(ZipMember, MoreOrLessThanItsSizeIsAnError) {
  const std::string content = numbers(10'000);
  EXPECT_NE(said(*opened(content, true, {.size = 9'000}), 9'000).find("expands further than 9000"),
            std::string::npos);
  EXPECT_NE(said(*opened(content, true, {.size = 11'000}), 11'000)
                .find("the content ends after 10000 bytes: expected 11000"),
            std::string::npos);
  EXPECT_NE(
      said(*opened(content, true, {.stored = 100}), 10'000).find("the data end in the middle"),
      std::string::npos);
}

TEST(ZipMember, WhatIsNoDeflatedDataSaysSo) {
  const FilePtr file = opened(std::string(500, '\xff'), false, {.method = 8});
  EXPECT_NE(said(*file, 500).find("inflate() failed with error -3"), std::string::npos);
}

// What comes before the damage is had after it was met, too.
TEST(ZipMember, DamageIsMetAgainAndAgain) {
  const std::string content = numbers(300'000);
  ZipArchive archive;
  archive.add("m", content, true, {.stored = 40'000});
  const FilePtr file = file_of({archive.finished()});
  const AccountPtr account = Budget::process().open_account("test");
  const FilePtr member =
      open_zip_member(file, read_zip_directory(*file, account).value()[0], account).value();
  EXPECT_FALSE(part(*member, 0, 300'000).ok());
  EXPECT_EQ(part(*member, 1000, 10).value(), content.substr(1000, 10));
  EXPECT_FALSE(part(*member, 299'000, 10).ok());
  EXPECT_FALSE(part(*member, 299'500, 10).ok());
  EXPECT_EQ(part(*member, 0, 10).value(), content.substr(0, 10));
}

// However large a member says it is, only what is asked for is expanded.
TEST(ZipMember, TakesConstantMemory) {
  Budget budget(300'000);
  ZipArchive archive;
  std::string zeros;
  zeros.resize(50'000'000);
  archive.add("m", zeros, true);
  const FilePtr file = file_of({archive.finished()});
  const AccountPtr account = budget.open_account("test");
  const auto members = read_zip_directory(*file, account).value();
  const FilePtr member = open_zip_member(file, members[0], account).value();
  EXPECT_EQ(part(*member, 49'999'000, 1000).value(), std::string(1000, '\0'));
  EXPECT_LE(budget.used(), 200'000U);
}

}  // namespace
}  // namespace spillway::testing
