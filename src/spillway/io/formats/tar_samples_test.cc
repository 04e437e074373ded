#include "spillway/io/formats/tar_samples.h"

#include <gtest/gtest.h>

#include "spillway/testing/files.h"
#include "spillway/testing/tar_archives.h"

namespace spillway::testing {
namespace {

using Words = std::vector<std::string>;

AccountPtr account() { return Budget::process().open_account("test"); }

TarSamples samples(MemoryFile file, bool exact = false,
                   Compression compression = Compression::kNone) {
  return {stream_of(std::move(file), compression), account(), {"__key__", "cls", "jpg"}, exact};
}

// "key:cls:jpg" of every sample, "!message" for errors, to the end or to damage.
Words all(TarSamples& in, std::int64_t rows = 3, std::size_t bytes = 4096) {
  Words out;
  for (;;) {
    auto read = in.read(rows, bytes);
    if (!read.ok()) {
      out.push_back("!" + std::string(read.error().message()));
      EXPECT_EQ(read.error().info().file, "memory.file");
      if (in.broken()) return out;
      continue;
    }
    if (read.value().empty()) return out;
    const std::vector<Tensor>& columns = read.value();
    for (std::int64_t i = 0; i < columns[0].count(); ++i) {
      std::string row;
      for (const Tensor& column : columns) row += std::string(column.string_at(i)) + ":";
      out.push_back(row.substr(0, row.size() - 1));
    }
  }
}

std::string sample(const std::string& key, std::size_t size = 3) {
  return tar_member(key + ".jpg", std::string(size, key.back())) + tar_member(key + ".cls", key);
}

TEST(TarSamples, NamesAreTakenApartAsWebDatasetDoes) {
  const auto shown = [](std::string_view name) {
    const auto found = sample_name(name);
    return found ? found->key + " " + found->extension : "-";
  };
  EXPECT_EQ(shown("a.jpg"), "a jpg");
  EXPECT_EQ(shown("a.Seg.PNG"), "a seg.png");
  EXPECT_EQ(shown("v1.2/a.b/c.jpg"), "v1.2/a.b/c jpg");
  EXPECT_EQ(shown("../../etc/x.y"), "../../etc/x y");
  EXPECT_EQ(shown("a."), "a ");
  EXPECT_EQ(shown("none"), "-");
  EXPECT_EQ(shown("a.b/none"), "-");
  EXPECT_EQ(shown(".hidden"), "-");
  EXPECT_EQ(shown("dir/.hidden.x"), "dir/ hidden.x");
  EXPECT_EQ(shown("d.ir/.hidden"), "-");
  EXPECT_EQ(shown("/.x"), "/ x");
  EXPECT_EQ(shown("__meta__/a.jpg"), "-");
  EXPECT_EQ(shown("__x.jpg__"), "-");
  EXPECT_EQ(shown("a/__x__.jpg"), "a/__x__ jpg");
}

TEST(TarSamples, GroupsMembersThatFollowEachOther) {
  std::string content = tar_member("d/", "", '5');
  Words expect;
  for (int i = 0; i < 20; ++i) {
    const std::string key = "d/" + std::to_string(i);
    const std::size_t size = i % 5 == 4 ? 20'000 : static_cast<std::size_t>(i) * 50;
    content += sample(key, size) + tar_member("readme", "no sample");
    expect.push_back(key);
    expect.back().append(":").append(key).append(":").append(size, key.back());
  }
  content += tar_end();
  for (const std::int64_t rows : {1, 3, 100}) {
    for (const std::size_t bytes : {0, 1000, 1'000'000}) {
      TarSamples plain = samples({content});
      EXPECT_EQ(all(plain, rows, bytes), expect);
      TarSamples gzip =
          samples({compressed(content, Packed::kGzip), 999}, true, Compression::kGzip);
      EXPECT_EQ(all(gzip, rows, bytes), expect);
    }
  }
}

TEST(TarSamples, GoesOnFromAnyPosition) {
  const std::string content = sample("a", 5) + sample("b", 17'000) + sample("c", 0) + tar_end();
  const Words expect = {"a", "b", "c"};
  TarSamples first = samples({content});
  for (std::size_t done = 0; done <= expect.size(); ++done) {
    TarSamples again = samples({content});
    again.seek(first.position());
    const Words rest = all(again);
    ASSERT_EQ(rest.size(), expect.size() - done);
    if (!rest.empty()) {
      EXPECT_EQ(rest[0][0], expect[done][0]);
    }
    ASSERT_TRUE(first.read(1, 0).ok());
  }
}

TEST(TarSamples, ASampleThatDiffersIsOneErrorInItsPlace) {
  const std::string content = sample("a") + tar_member("b.jpg", "no cls") + sample("c") +
                              tar_member("d.cls", "1") + tar_member("d.cls", "2") +
                              tar_member("d.jpg", "3") + sample("e") + tar_member("e.txt", "x") +
                              sample("f") + tar_end();
  for (const std::int64_t rows : {1, 100}) {
    TarSamples in = samples({content}, true);
    const Words got = all(in, rows, 1'000'000);
    ASSERT_EQ(got.size(), 6U);
    EXPECT_EQ(got[0], "a:a:aaa");
    EXPECT_EQ(got[1],
              "!sample 'b' at 2048 in memory.file: expected the extensions cls, jpg, found jpg");
    EXPECT_EQ(got[2], "c:c:ccc");
    EXPECT_NE(got[3].find("found a second cls ('d.cls')"), std::string::npos) << got[3];
    EXPECT_NE(got[4].find("expected the extensions cls, jpg, found txt ('e.txt')"),
              std::string::npos);
    EXPECT_EQ(got[5], "f:f:fff");
  }
  TarSamples lenient = samples({content});
  EXPECT_EQ(all(lenient)[4], "e:e:eee");
}

TEST(TarSamples, AWholeSampleBeforeDamageIsHandedOut) {
  std::string damaged = sample("b");
  damaged[0] = 'x';
  const std::string content = sample("a") + damaged + sample("c") + tar_end();
  TarSamples in = samples({content});
  Words got = all(in);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0], "a:a:aaa");
  EXPECT_NE(got[1].find("checksum"), std::string::npos);
  ASSERT_TRUE(in.resynchronise().value());
  got = all(in);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_NE(got[0].find("sample 'b' at 3072"), std::string::npos) << got[0];
  EXPECT_EQ(got[1], "c:c:ccc");
}

TEST(TarSamples, AMemberThatCannotFitIsItsSamplesErrorAlone) {
  Budget budget(200'000);
  const std::string content = sample("a") + sample("b", 400'000) + sample("c") + tar_end();
  auto stream =
      ByteStream::open(file_of({content}), Compression::kNone, budget.open_account("test"), 4096);
  TarSamples in(std::move(stream).value(), budget.open_account("test"), {"__key__", "cls", "jpg"},
                true);
  const Words got = all(in);
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[0], "a:a:aaa");
  EXPECT_EQ(got[1][0], '!');
  EXPECT_EQ(got[2], "c:c:ccc");
}

TEST(TarSamples, TellsTheExtensionsOfTheFirstSample) {
  const std::string content = tar_member("readme", "") + tar_member("a.JPG", "1") +
                              tar_member("a.cls", "2") + tar_member("b.txt", "3") + tar_end();
  EXPECT_EQ(first_sample(stream_of({content})).value(), (Words{"cls", "jpg"}));
  EXPECT_EQ(first_sample(stream_of({tar_end()})).value(), Words());
  EXPECT_FALSE(first_sample(stream_of({"no archive"})).ok());
}

}  // namespace
}  // namespace spillway::testing
