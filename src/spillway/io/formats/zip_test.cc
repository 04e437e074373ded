#include "spillway/io/formats/zip.h"

#include <gtest/gtest.h>

#include "spillway/testing/files.h"
#include "spillway/testing/zip_archives.h"

namespace spillway::testing {
namespace {

using Claims = ZipArchive::Claims;

Result<std::vector<ZipMember>> directory(const std::string& content) {
  return read_zip_directory(*file_of({content}), Budget::process().open_account("test"));
}
std::string refusal(const std::string& content) {
  const auto found = directory(content);
  if (found.ok()) return "accepted";
  EXPECT_EQ(found.error().info().file, "memory.file");
  EXPECT_GE(found.error().info().offset, 0);
  return std::string(found.error().message());
}

TEST(ZipDirectory, ListsStoredAndDeflatedMembers) {
  const std::string text(1000, 'x');
  ZipArchive archive;
  archive.add("../../climbs.npy", text);
  archive.add("folder/", "");
  archive.add("b.npy", text, true);
  archive.add("c.npy", text, true, {.zip64 = true});
  archive.add("d.npy", text, true, {.flags = 8, .local_size = -1});
  for (const std::string& content :
       {archive.finished(), archive.finished(true), archive.finished(false, "a comment")}) {
    const auto found = directory(content);
    ASSERT_TRUE(found.ok()) << found.error().message();
    ASSERT_EQ(found.value().size(), 4U);
    EXPECT_EQ(found.value()[0].name, "../../climbs.npy");
    EXPECT_FALSE(found.value()[0].deflated);
    EXPECT_EQ(content.substr(found.value()[0].data, 1000), text);
    EXPECT_TRUE(found.value()[1].deflated);
    EXPECT_EQ(found.value()[1].size, 1000U);
    EXPECT_EQ(found.value()[2].size, 1000U);
  }
  EXPECT_TRUE(directory(ZipArchive().finished()).value().empty());
}

struct Lie {
  Claims claims;
  bool deflate;
  std::string says;
};

TEST(ZipDirectory, RefusesWhatItsHeadersDoNotAgreeOn) {
  const std::string text(1000, 'x');
  const std::vector<Lie> lies = {
      {{.size = 2000}, false, "bytes cannot hold 2000"},
      {{.size = 900'000}, true, "deflated bytes cannot hold 900000"},
      {{.stored = 500'000}, true, "before the directory at "},
      {{.local_size = 999}, true, "its header and the directory must agree"},
      {{.local_name = "other"}, true, "its header names it 'other'"},
      {{.header = 3}, false, "'b' begins within 'a'"},
      {{.header = 1035}, false, "expected the header of a member"},
      {{.header = 0x7fffffff}, false, "its header must lie before the directory"},
      {{.header = 0}, false, "'b' begins within 'a'"},
      {{.method = 12}, false, "expected method 0 (stored) or 8 (deflated), found 12 (bzip2)"},
      {{.method = 14}, false, "found 14 (lzma)"},
      {{.flags = 1}, false, "'b' is encrypted: expected plain content"},
      {{.size = UINT32_MAX, .local_size = 1000}, false, "expected its sizes in a zip64 field"},
  };
  for (const Lie& lie : lies) {
    ZipArchive archive;
    archive.add("a", text);
    archive.add("b", text, lie.deflate, lie.claims);
    const std::string said = refusal(archive.finished());
    EXPECT_NE(said.find(lie.says), std::string::npos) << said << "\nexpected " << lie.says;
  }
}

// As in a bomb whose members share one run of bytes.
TEST(ZipDirectory, RefusesMembersThatOverlap) {
  const std::string text(1000, 'x');
  ZipArchive archive;
  archive.add("a", text);
  archive.add("a", text, false, {.header = 0});
  EXPECT_NE(refusal(archive.finished()).find("'a' begins within 'a'"), std::string::npos);
  ZipArchive inner;
  inner.add("b", "1");
  ZipArchive outer;
  outer.add("a", inner.finished());
  outer.add("b", "1", false, {.header = 31});
  EXPECT_NE(refusal(outer.finished()).find("'b' begins within 'a'"), std::string::npos);
}

TEST(ZipDirectory, RefusesDirectoriesThatDoNotFit) {
  ZipArchive archive;
  archive.add("a", "content");
  const std::string good = archive.finished();
  EXPECT_NE(refusal("").find("not a zip file, or a truncated one"), std::string::npos);
  EXPECT_NE(refusal(good.substr(0, good.size() - 1)).find("truncated"), std::string::npos);
  EXPECT_NE(refusal(good + "x").find("truncated"), std::string::npos);
  for (const std::size_t field : {10U, 12U, 16U}) {
    std::string forged = good;
    forged[good.size() - 22 + field] = 99;
    if (field == 10) forged[good.size() - 22 + 8] = 99;
    EXPECT_NE(refusal(forged).find("a directory of "), std::string::npos) << field;
  }
}

// Every byte in turn: refused, or a directory that lies in the file.
TEST(ZipDirectory, NoByteMakesItReadOutsideOfTheFile) {
  ZipArchive archive;
  archive.add("a", std::string(50, 'x'));
  archive.add("b", std::string(50, 'y'), true, {.zip64 = true});
  const std::string content = archive.finished(true);
  for (std::size_t i = 0; i < content.size(); ++i) {
    for (const char with : {'\0', '\xff', '\x41'}) {
      std::string damaged = content;
      damaged[i] = static_cast<char>(damaged[i] ^ with);
      const auto found = directory(damaged);
      if (!found.ok()) continue;
      for (const ZipMember& member : found.value()) {
        EXPECT_LE(member.data + member.stored, damaged.size()) << "byte " << i;
      }
    }
  }
}

}  // namespace
}  // namespace spillway::testing
