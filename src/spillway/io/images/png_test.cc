#include <gmock/gmock.h>
#include <zlib.h>

#include "spillway/testing/images.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string big(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>(value >> static_cast<unsigned>(shift));
  }
  return out;
}
std::string chunk(const std::string& kind, const std::string& content) {
  const std::string body = kind + content;
  const auto crc =
      ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big(static_cast<std::uint32_t>(content.size())) + body +
         big(static_cast<std::uint32_t>(crc));
}
// Any kind of PNG, from rows as they are stored: a filter byte, then bits.
std::string png_with(std::uint32_t width, std::uint32_t height, int depth, int color,
                     const std::string& before, const std::string& rows, int interlaced = 0) {
  std::string packed(compressBound(rows.size()), '\0');
  uLongf size = packed.size();
  ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  packed.resize(size);
  std::string header = big(width) + big(height);
  for (const int byte : {depth, color, 0, 0, interlaced}) header += static_cast<char>(byte);
  return "\x89PNG\r\n\x1A\n" + chunk("IHDR", header) + before + chunk("IDAT", packed) +
         chunk("IEND", "");
}

TEST(Png, GivesBackWhatWasEncoded) {
  for (const std::int64_t channels : {1, 2, 3, 4}) {
    const PixelExtent extent{1, 5, 7, channels};
    const std::string file = png_of(gradient(extent), extent);
    const Decoded got = decode_image(file);
    ASSERT_TRUE(got.status.ok()) << got.status.message();
    EXPECT_EQ(got.pixels, gradient(extent));
    EXPECT_EQ(info_of(file).value().channels, channels);
  }
}

TEST(Png, KeepsSixteenBitsWhereAsked) {
  const std::vector<std::uint8_t> pixels = {0x01, 0x80, 0xFF, 0x02};  // 0x8001, 0x02FF
  const std::string file = png_of(pixels, {1, 1, 2, 1}, /*wide=*/true);
  EXPECT_EQ(decode_image(file, {.wide = true}).pixels, pixels);
  EXPECT_THAT(decode_image(file).pixels, ElementsAre(0x80, 0x02));
  EXPECT_THAT(decode_image(png_of({3, 250}, {1, 1, 2, 1}), {.wide = true}).pixels,
              ElementsAre(3, 3, 250, 250));
}

TEST(Png, AddsDropsAndMixesChannels) {
  const std::string color = png_of({10, 20, 30}, {1, 1, 1, 3});
  EXPECT_THAT(decode_image(color, {.channels = 4}).pixels, ElementsAre(10, 20, 30, 255));
  EXPECT_THAT(decode_image(color, {.channels = 1}).pixels, ElementsAre(18));
  const std::string alpha = png_of({10, 20, 30, 40}, {1, 1, 1, 4});
  EXPECT_THAT(decode_image(alpha, {.channels = 3}).pixels, ElementsAre(10, 20, 30));
  EXPECT_THAT(decode_image(png_of({9}, {1, 1, 1, 1}), {.channels = 3}).pixels,
              ElementsAre(9, 9, 9));
}

TEST(Png, ReadsPalettesAndFewBits) {
  const std::string palette = chunk("PLTE", std::string("\1\2\3\4\5\6", 6));
  const std::string rows("\0\x40", 2);  // 0, 1
  const std::string file = png_with(2, 1, 1, 3, palette, rows);
  EXPECT_THAT(decode_image(file).pixels, ElementsAre(1, 2, 3, 4, 5, 6));
  const std::string clear = png_with(2, 1, 1, 3, palette + chunk("tRNS", "\x7"), rows);
  EXPECT_THAT(decode_image(clear).pixels, ElementsAre(1, 2, 3, 7, 4, 5, 6, 255));
  EXPECT_THAT(decode_image(png_with(2, 1, 1, 0, "", rows)).pixels, ElementsAre(0, 255));
}

TEST(Png, PutsInterlacedPixelsInTheirPlaces) {
  // Two by two: pass 1 has the first pixel, pass 6 the second, pass 7 the lower row.
  const std::string rows("\0\1\0\2\0\3\4", 7);
  EXPECT_THAT(decode_image(png_with(2, 2, 8, 0, "", rows, 1)).pixels, ElementsAre(1, 2, 3, 4));
}

TEST(Png, SaysWhatIsWrongAndWhere) {
  const PixelExtent extent{1, 5, 7, 3};
  std::string file = png_of(gradient(extent), extent);
  const Decoded cut = decode_image(file.substr(0, 40));
  EXPECT_THAT(std::string(cut.status.message()), HasSubstr("the file ends too soon"));
  file[file.size() - 20] ^= 1;
  EXPECT_THAT(std::string(decode_image(file).status.message()), HasSubstr("Invalid PNG data"));
}

TEST(Png, RefusesABombBeforeItMakesRoom) {
  const std::string file = png_with(20'000, 20'000, 8, 2, "", "");
  EXPECT_EQ(decode_image(file).status.kind(), ErrorKind::kResource);
  EXPECT_THAT(std::string(decode_image(png_with(900'000, 900'000, 8, 2, "", "")).status.message()),
              HasSubstr("size too large"));
}

TEST(Png, ChargesWhatTheLibraryTakes) {
  const PixelExtent extent{1, 1, 1, 1};
  EXPECT_EQ(decode_image(png_of({1}, extent), {}, 40'000).status.kind(), ErrorKind::kResource);
}

TEST(Png, OutlivesDamage) {
  const PixelExtent extent{1, 20, 30, 3};
  check_damage(png_of(gradient(extent), extent));
}

TEST(Png, DoesNotEncodeNothing) {
  Budget budget(1 << 20U);
  const AccountPtr account = budget.open_account("image");
  Workspace workspace(account, Buffer::Ask::kOptional);
  ByteSink sink(account, Buffer::Ask::kOptional);
  const std::byte none{};
  EXPECT_EQ(encode_png(&none, {1, 0, 3, 1}, false, -1, workspace, sink).code(), Code::kInternal);
}

TEST(Png, HandsOverRowsThatAreThoseOfTheWholeImage) {
  const PixelExtent extent{1, 9, 5, 3};
  const std::string file = png_of(gradient(extent), extent);
  EXPECT_EQ(decode_image_rows(file).pixels, decode_image(file).pixels);
}

}  // namespace
}  // namespace spillway::testing
