#include <gmock/gmock.h>
#include <webp/encode.h>

#include "spillway/testing/images.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string little(std::uint32_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> (8U * static_cast<unsigned>(i)));
  return out;
}
std::string chunk(const std::string& kind, std::string content) {
  const std::string size = little(static_cast<std::uint32_t>(content.size()), 4);
  if (content.size() % 2 != 0) content += '\0';
  return kind + size + content;
}
std::string riff(const std::string& chunks) { return chunk("RIFF", "WEBP" + chunks); }

std::string webp_of(const std::vector<std::uint8_t>& pixels, const PixelExtent& extent) {
  std::uint8_t* made = nullptr;
  const int width = static_cast<int>(extent.width);
  const auto encode = extent.channels == 4 ? WebPEncodeLosslessRGBA : WebPEncodeLosslessRGB;
  const std::size_t size = encode(pixels.data(), width, static_cast<int>(extent.height),
                                  width * static_cast<int>(extent.channels), &made);
  std::string out(reinterpret_cast<const char*>(made), size);
  WebPFree(made);
  return out;
}
// Frames as large as the canvas, each shown alone.
std::string animation_of(const std::vector<std::string>& pictures, const PixelExtent& extent) {
  const std::string sizes = little(static_cast<std::uint32_t>(extent.width - 1), 3) +
                            little(static_cast<std::uint32_t>(extent.height - 1), 3);
  std::string out =
      chunk("VP8X", std::string("\x12\0\0\0", 4) + sizes) + chunk("ANIM", std::string(6, '\0'));
  for (const std::string& picture : pictures) {
    out += chunk("ANMF", std::string(6, '\0') + sizes + little(100, 3) + '\2' + picture.substr(12));
  }
  return riff(out);
}

constexpr PixelExtent kSmall{1, 5, 7, 3};

TEST(Webp, GivesBackWhatWasEncoded) {
  const std::string file = webp_of(gradient(kSmall), kSmall);
  const Decoded got = decode_image(file);
  ASSERT_TRUE(got.status.ok()) << got.status.message();
  EXPECT_EQ(got.pixels, gradient(kSmall));
  EXPECT_EQ(info_of(file).value().width, 7);
  const PixelExtent extent{1, 1, 2, 4};
  const std::vector<std::uint8_t> pixels = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(decode_image(webp_of(pixels, extent)).pixels, pixels);
}

TEST(Webp, GivesTheChannelsOfTheFile) {
  const std::string file = webp_of(gradient(kSmall), kSmall);
  EXPECT_THAT(std::string(decode_image(file, {.channels = 4}).status.message()),
              HasSubstr("expected 4, found 3"));
  EXPECT_EQ(decode_image(file, {.channels = 1}).status.kind(), ErrorKind::kUser);
}

TEST(Webp, DecodesAnimations) {
  const PixelExtent extent{1, 1, 1, 4};
  const std::string file =
      animation_of({webp_of({1, 2, 3, 255}, extent), webp_of({4, 5, 6, 200}, extent)}, extent);
  const Decoded got = decode_image(file);
  ASSERT_TRUE(got.status.ok()) << got.status.message();
  EXPECT_EQ(got.extent.frames, 2);
  EXPECT_THAT(got.pixels, ElementsAre(1, 2, 3, 255, 4, 5, 6, 200));
  EXPECT_EQ(decode_image(file, {.first_frame = true}).extent.frames, 1);
  EXPECT_EQ(info_of(file).value().frames, 2);
}

TEST(Webp, RefusesABombBeforeItMakesRoom) {
  std::string file = animation_of({webp_of({1, 2, 3, 255}, {1, 1, 1, 4})}, {1, 1, 1, 4});
  file.replace(file.find("VP8X") + 12, 6, "\xFF\xFF\0\xFF\xEF\0", 6);
  EXPECT_FALSE(decode_image(file).status.ok());
  const PixelExtent wide{1, 1000, 1000, 3};
  EXPECT_EQ(decode_image(webp_of(gradient(wide), wide), {}, 4'000'000).status.kind(),
            ErrorKind::kResource);
}

TEST(Webp, OutlivesDamage) {
  const PixelExtent extent{1, 20, 30, 4};
  check_damage(webp_of(gradient(extent), extent));
  check_damage(animation_of({webp_of(gradient(extent), extent)}, extent));
}

}  // namespace
}  // namespace spillway::testing
