#include <gmock/gmock.h>

#include "spillway/testing/images.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void put(std::string& out, std::initializer_list<int> bytes) {
  for (const int byte : bytes) out += static_cast<char>(byte);
}
// Codes of nine bits and a clear code between them: nothing is learnt, so the width stays.
std::string packed(const std::string& indices) {
  std::string data;
  std::uint32_t window = 0;
  unsigned have = 0;
  const auto code = [&](std::uint32_t value) {
    window |= value << have;
    for (have += 9; have >= 8; have -= 8, window >>= 8U) data += static_cast<char>(window);
  };
  for (const char index : indices) {
    code(256);
    code(static_cast<unsigned char>(index));
  }
  code(257);
  data += static_cast<char>(window);
  std::string out(1, '\10');
  for (std::size_t at = 0; at < data.size(); at += 255) {
    const std::string block = data.substr(at, 255);
    out += static_cast<char>(block.size());
    out += block;
  }
  return out + '\0';
}
struct FrameOf {
  int left = 0;
  int top = 0;
  int width = 2;
  int height = 2;
  std::string indices = {};  // NOLINT(readability-redundant-member-init): may be left out
  int transparent = -1;
  bool interlaced = false;
};
// Four colors: black, red, green, blue.
std::string gif_of(const std::vector<FrameOf>& frames) {
  std::string out = "GIF89a";
  put(out, {9, 0, 9, 0, 0x81, 0, 0});
  put(out, {0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255});
  for (const FrameOf& frame : frames) {
    if (frame.transparent >= 0) put(out, {0x21, 0xF9, 4, 1, 0, 0, frame.transparent, 0});
    put(out, {0x2C, frame.left, 0, frame.top, 0, frame.width, 0, frame.height, 0,
              frame.interlaced ? 0x40 : 0});
    out += packed(frame.indices);
  }
  return out + ';';
}
// Where the first channel of each pixel is seen, in units of a full one.
std::vector<int> channel(const Decoded& got, std::size_t c) {
  std::vector<int> out;
  for (std::size_t i = c; i < got.pixels.size(); i += 3) out.push_back(got.pixels[i] / 255);
  return out;
}

const std::string kTwo =
    gif_of({{.indices = std::string("\1\2\3\0", 4)}, {.left = 1, .width = 1, .indices = "\1\1"}});

TEST(Gif, DrawsFramesOverEachOther) {
  const Decoded got = decode_image(kTwo);
  ASSERT_TRUE(got.status.ok()) << got.status.message();
  EXPECT_EQ(got.extent.frames, 2);
  EXPECT_THAT(channel(got, 0), ElementsAre(1, 0, 0, 0, 1, 1, 0, 1));
  EXPECT_THAT(channel(got, 1), ElementsAre(0, 1, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(channel(got, 2), ElementsAre(0, 0, 1, 0, 0, 0, 1, 0));
  EXPECT_EQ(info_of(kTwo).value().frames, 2);
}

TEST(Gif, GivesTheFirstFrameAlone) {
  const Decoded got = decode_image(kTwo, {.first_frame = true});
  EXPECT_EQ(got.extent.frames, 1);
  EXPECT_THAT(channel(got, 0), ElementsAre(1, 0, 0, 0));
}

TEST(Gif, KeepsWhatIsBehindTransparentPixels) {
  const Decoded got = decode_image(
      gif_of({{.indices = "\1\1\1\1"}, {.indices = std::string("\2\3\2\3", 4), .transparent = 3}}));
  EXPECT_THAT(channel(got, 0), ElementsAre(1, 1, 1, 1, 0, 1, 0, 1));
}

TEST(Gif, PutsInterlacedRowsInTheirPlaces) {
  // Rows 0, 4, 2, 1, 3 as they are stored.
  const Decoded got = decode_image(gif_of(
      {{.width = 1, .height = 5, .indices = std::string("\1\1\0\0\0", 5), .interlaced = true}}));
  EXPECT_THAT(channel(got, 0), ElementsAre(1, 0, 0, 0, 1));
}

TEST(Gif, LearnsCodesUntilTheyAreFull) {
  // One color: each code stands for one pixel more than the last; 4096 codes and more.
  const std::int64_t side = 3000;
  std::string file = gif_of({});
  file.pop_back();
  put(file, {0x2C, 0, 0, 0, 0, side & 255, side >> 8U, side & 255, side >> 8U, 0, 2});
  std::string data;
  std::uint32_t window = 0;
  unsigned have = 0;
  unsigned bits = 3;
  const auto code = [&](std::uint32_t value) {
    window |= value << have;
    for (have += bits; have >= 8; have -= 8, window >>= 8U) data += static_cast<char>(window);
  };
  code(4);
  code(1);
  std::int64_t left = side * side - 1;
  unsigned next = 6;
  while (left > 0) {
    const std::int64_t longest = next < 4096 ? next - 4 : 4095 - 4;
    const std::int64_t take = std::min(left, longest);
    code(take == 1 ? 1 : static_cast<unsigned>(take + 4));
    left -= take;
    if (next == 4096) continue;
    ++next;
    if (next == 1U << bits && bits < 12) ++bits;
  }
  code(5);
  data += static_cast<char>(window);
  for (std::size_t at = 0; at < data.size(); at += 255) {
    file += static_cast<char>(std::min<std::size_t>(255, data.size() - at));
    file += data.substr(at, 255);
  }
  file += std::string("\0;", 2);
  const Decoded got = decode_image(file);
  ASSERT_TRUE(got.status.ok()) << got.status.message();
  for (std::size_t i = 0; i < got.pixels.size(); i += 3) ASSERT_EQ(got.pixels[i], 255) << i;
}

TEST(Gif, MayEndWithoutSayingSo) {
  EXPECT_TRUE(decode_image(kTwo.substr(0, kTwo.size() - 1)).status.ok());
}

TEST(Gif, SaysWhatIsWrong) {
  EXPECT_THAT(std::string(decode_image(gif_of({})).status.message()), HasSubstr("any image"));
  EXPECT_THAT(std::string(decode_image(gif_of({{.indices = "\1\1\1\7"}})).status.message()),
              HasSubstr("found color index 7 outside of color map range 4"));
  EXPECT_THAT(std::string(decode_image(gif_of({{.indices = "\1"}})).status.message()),
              HasSubstr("ends too soon"));
  EXPECT_EQ(decode_image(kTwo, {.channels = 1}).status.kind(), ErrorKind::kUser);
}

TEST(Gif, RefusesABombBeforeItMakesRoom) {
  const std::string file = gif_of({{.width = 255, .height = 255, .indices = "\1"}});
  EXPECT_EQ(decode_image(file, {}, 100'000).status.kind(), ErrorKind::kResource);
}

TEST(Gif, MayBeCutAnywhere) {
  const std::string file = gif_of({{.indices = "\1\1\1\1"}});
  for (std::size_t size = 4; size + 1 < file.size(); ++size) {
    EXPECT_FALSE(decode_image(file.substr(0, size)).status.ok()) << size;
  }
}

TEST(Gif, OutlivesDamage) {
  check_damage(gif_of({{.width = 20, .height = 9, .indices = std::string(180, '\2')}}));
}

}  // namespace
}  // namespace spillway::testing
