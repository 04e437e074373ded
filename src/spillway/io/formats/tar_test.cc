#include "spillway/io/formats/tar.h"

#include <gtest/gtest.h>

#include "spillway/testing/files.h"
#include "spillway/testing/tar_archives.h"

namespace spillway::testing {
namespace {

AccountPtr account() { return Budget::process().open_account("test"); }

// "name=content", "(name)" for what is no regular file, then "!message" for an error.
std::vector<std::string> members(MemoryFile file, Compression compression = Compression::kNone) {
  TarReader archive(stream_of(std::move(file), compression));
  std::vector<std::string> out;
  for (;;) {
    auto next = archive.next();
    if (!next.ok()) {
      out.push_back("!" + std::string(next.error().message()));
      EXPECT_EQ(next.error().info().file, "memory.file");
      EXPECT_GE(next.error().info().offset, 0);
      return out;
    }
    if (!next.value()) return out;
    const TarMember& member = *next.value();
    if (!member.regular) {
      out.push_back("(" + member.name + ")");
      continue;
    }
    StringRows rows(account(), 1, 0);
    auto read = archive.read(member, rows);
    if (!read.ok()) {
      out.push_back("!" + std::string(read.error().message()));
      return out;
    }
    out.push_back(member.name + "=" + std::string(rows.take().string_at(0)));
  }
}

using Members = std::vector<std::string>;

TEST(Tar, ReadsMembersOfAnyLength) {
  std::string content;
  Members expect;
  for (const std::size_t size : {0, 1, 511, 512, 513, 16'384, 100'000, 7}) {
    const std::string text(size, static_cast<char>('a' + expect.size()));
    const std::string name = "m" + std::to_string(size);
    content += tar_member(name, text);
    expect.push_back(name);
    expect.back().append("=").append(text);
  }
  content += tar_end();
  EXPECT_EQ(members({content}), expect);
  EXPECT_EQ(members({content, 100}), expect);
  EXPECT_EQ(members({compressed(content, Packed::kGzip), 77}, Compression::kGzip), expect);
}

TEST(Tar, LongNamesComeFromGnusHeadersFromPaxAndFromThePrefix) {
  const std::string name = std::string(150, 'd') + "/x";
  const std::string content = tar_member("././@LongLink", name + '\0', 'L') +
                              tar_member("cut", "1") + pax_member("162 path=" + name + "\n") +
                              tar_member("cut", "2") + tar_header("x", octal(0), '0', "folder") +
                              tar_member("plain", "3") + tar_end();
  EXPECT_EQ(members({content}), (Members{name + "=1", name + "=2", "folder/x=", "plain=3"}));
}

TEST(Tar, ASizeMayStandInAPaxHeaderOrInBinary) {
  std::string binary(12, '\0');
  binary[0] = '\x80';
  binary[11] = 3;
  std::string content = pax_member("9 size=5\n") + tar_header("a", octal(0)) + "hello";
  content.resize(2048, '\0');
  content += tar_header("b", binary) + "two";
  content.resize(content.size() + 509, '\0');
  EXPECT_EQ(members({content + tar_end()}), (Members{"a=hello", "b=two"}));
}

TEST(Tar, LinksFoldersAndDevicesHaveNoContent) {
  const std::string content = tar_header("link", octal(1'000'000), '2') +
                              tar_header("hard", octal(5), '1') +
                              tar_header("dir/", octal(0), '5') + tar_header("dev", octal(0), '3') +
                              tar_member("a", "x") + tar_header("old/", octal(0), '\0') + tar_end();
  EXPECT_EQ(members({content}), (Members{"(link)", "(hard)", "(dir/)", "(dev)", "a=x", "(old/)"}));
}

TEST(Tar, ANameThatClimbsOutIsJustAName) {
  EXPECT_EQ(members({tar_member("../../etc/passwd", "x") + tar_member("/abs", "y") + tar_end()}),
            (Members{"../../etc/passwd=x", "/abs=y"}));
}

struct Refusal {
  std::string content;
  std::string says;
};

TEST(Tar, SaysWhereAndWhatItRefuses) {
  const std::string good = tar_member("a", "x");
  std::string damaged = tar_member("b", "y");
  damaged[3] = '!';
  const std::string negative(12, '\xff');
  const std::string name(200, 'n');
  const std::vector<Refusal> all = {
      {good + damaged + tar_end(), "at 1024 in memory.file: the header's checksum: expected "},
      {good, "at 1024 in memory.file: truncated: expected a header or the block of zeros"},
      {good + std::string(100, 'x'), "at 1024 in memory.file: truncated: expected a header of 512"},
      {tar_header("b", octal(5000)) + tar_end(),
       "'b' is truncated: expected 5000 bytes of content, "},
      {tar_header("b", "77777777777") + tar_end(),
       "expected 8589934591 bytes of content, found 1024"},
      {tar_header("b", negative) + tar_end(), "the size of 'b': expected octal digits"},
      {tar_header("b", "12x") + tar_end(), "the size of 'b': expected octal digits, found '12x'"},
      {tar_header("b", octal(0), 'S') + tar_end(), "'b' is a sparse file"},
      {pax_member("22 GNU.sparse.major=1\n") + tar_member("b", "y"), "GNU.sparse.major"},
      {pax_member("99 path=x\n") + tar_member("b", "y"), "expected 'LENGTH KEY=VALUE', found '99 "},
      {pax_member("4 xy\n") + tar_member("b", "y"), "a pax header: expected"},
      {pax_member("12 size=-10\n") + tar_member("b", "y"), "expected digits, found '-10'"},
      {tar_member("g", "12 path=abc\n", 'g') + tar_end(), "a global pax header may not set path"},
      {tar_member("L", name, 'L') + tar_end(), "expected the member that the header at 0 is for"},
      {tar_header("L", octal(2 << 20U), 'L') + tar_end(), "of type L has at most 1048576 bytes"},
      {"\x1f\x8b" + std::string(600, 'x'), "found gzip's magic: compression_type='GZIP'"},
      {"", "at 0 in memory.file: truncated"},
  };
  for (const Refusal& refusal : all) {
    const Members got = members({refusal.content});
    ASSERT_FALSE(got.empty());
    EXPECT_NE(got.back().find(refusal.says), std::string::npos)
        << got.back() << "\nexpected " << refusal.says;
  }
}

// Every byte of every header in turn: an error with its place, or the very members.
TEST(Tar, NoDamagedByteOfAHeaderGoesUnseen) {
  const std::string content = tar_member("a", "one") + tar_member("b", "two") + tar_end();
  for (std::size_t i = 0; i < 512; ++i) {
    if (i == 155) continue;  // the blank behind the checksum says nothing
    std::string damaged = content;
    damaged[1024 + i] = static_cast<char>(damaged[1024 + i] ^ 0x41);
    const Members got = members({damaged});
    ASSERT_EQ(got.size(), 2U) << "byte " << i;
    EXPECT_EQ(got[0], "a=one");
    EXPECT_EQ(got[1][0], '!') << "byte " << i << ": " << got[1];
  }
}

TEST(Tar, CutAnywhereItIsAnErrorBehindWholeMembers) {
  const std::string content = tar_member("a", std::string(700, 'a')) + tar_member("b", "two");
  for (std::size_t end = 0; end <= content.size(); ++end) {
    const Members got = members({content.substr(0, end)});
    ASSERT_EQ(got.back()[0], '!') << end;
    const std::string gzip = compressed(content.substr(0, end), Packed::kGzip);
    EXPECT_EQ(members({gzip}, Compression::kGzip).back()[0], '!') << end;
  }
}

TEST(Tar, FindsTheNextGoodHeader) {
  std::string damaged = tar_member("b", std::string(2000, 'b'));
  damaged[124] = 'z';
  const std::string content =
      tar_member("a", "one") + damaged + tar_member("c", "three") + tar_end();
  for (const auto compression : {Compression::kNone, Compression::kGzip}) {
    const std::string file =
        compression == Compression::kNone ? content : compressed(content, Packed::kGzip);
    TarReader archive(stream_of({file}, compression));
    ASSERT_TRUE(archive.next().ok());
    ASSERT_FALSE(archive.next().ok());
    ASSERT_TRUE(archive.resynchronise().value());
    EXPECT_EQ(archive.position(), content.find("c\0", 1024 + damaged.size()));
    EXPECT_EQ(archive.next().value()->name, "c");
    ASSERT_FALSE(archive.next().value());
  }
}

TEST(Tar, WantOfMemoryPassesNothing) {
  const std::string text(100'000, 'x');
  const std::string gzip =
      compressed(tar_member("a", text) + tar_member("b", text) + tar_end(), Packed::kGzip);
  TarReader archive(stream_of({gzip}, Compression::kGzip));
  Budget little(1000);
  StringRows none(little.open_account("test"), 1, 0);
  const TarMember a = *archive.next().value();
  EXPECT_FALSE(archive.read(a, none).ok());
  StringRows rows(account(), 1, 0);
  ASSERT_TRUE(archive.read(a, rows).value());
  EXPECT_EQ(rows.take().string_at(0), text);
  EXPECT_EQ(archive.next().value()->name, "b");
}

}  // namespace
}  // namespace spillway::testing
