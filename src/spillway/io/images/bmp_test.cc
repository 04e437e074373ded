#include <gmock/gmock.h>

#include "spillway/testing/images.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void put(std::string& out, std::int64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8U * static_cast<unsigned>(i)));
  }
}
// A header and rows as they are stored.
std::string bmp_of(int width, int height, int bits, std::string_view rows) {
  std::string out = "BM";
  put(out, 54 + static_cast<std::int64_t>(rows.size()), 4);
  put(out, 0, 4);
  put(out, 54, 4);  // where the rows begin
  put(out, 40, 4);
  put(out, width, 4);
  put(out, height, 4);
  put(out, 1, 2);
  put(out, bits, 2);
  out.append(24, '\0');
  return out.append(rows);
}
// Two rows of two pixels, the lower one first; each row is filled up to four bytes.
const std::string kColors =
    bmp_of(2, 2, 24, std::string_view("\1\2\3\4\5\6\0\0\7\10\11\12\13\14\0\0", 16));

TEST(Bmp, TurnsColorsAndRowsRound) {
  const Decoded got = decode_image(kColors);
  ASSERT_TRUE(got.status.ok()) << got.status.message();
  EXPECT_THAT(got.pixels, ElementsAre(9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4));
  EXPECT_EQ(got.extent.height, 2);
  EXPECT_EQ(info_of(kColors).value().channels, 3);
}

TEST(Bmp, KeepsTheRowsOfOneThatIsTopDown) {
  const std::string file =
      bmp_of(2, -2, 24, std::string_view("\1\2\3\4\5\6\0\0\7\10\11\12\13\14\0\0", 16));
  EXPECT_THAT(decode_image(file).pixels, ElementsAre(3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10));
}

TEST(Bmp, AddsAndDropsAlpha) {
  EXPECT_THAT(
      decode_image(bmp_of(1, 1, 24, std::string_view("\1\2\3\0", 4)), {.channels = 4}).pixels,
      ElementsAre(3, 2, 1, 255));
  const std::string with_alpha = bmp_of(1, 1, 32, "\1\2\3\4");
  EXPECT_THAT(decode_image(with_alpha).pixels, ElementsAre(3, 2, 1, 4));
  EXPECT_THAT(decode_image(with_alpha, {.channels = 3}).pixels, ElementsAre(3, 2, 1));
}

TEST(Bmp, RepeatsGray) {
  const std::string gray = bmp_of(2, 1, 8, std::string_view("\5\6\0\0", 4));
  EXPECT_THAT(decode_image(gray).pixels, ElementsAre(5, 6));
  EXPECT_THAT(decode_image(gray, {.channels = 4}).pixels, ElementsAre(5, 5, 5, 255, 6, 6, 6, 255));
  EXPECT_EQ(decode_image(gray, {.channels = 1}).status.kind(), ErrorKind::kUser);
}

TEST(Bmp, SaysWhatDoesNotFit) {
  EXPECT_THAT(std::string(decode_image(kColors.substr(0, 20)).status.message()),
              HasSubstr("at byte 20 of 20: Incomplete bmp content"));
  EXPECT_THAT(std::string(decode_image(kColors + "x").status.message()),
              HasSubstr("expected 70 bytes, found 71"));
  EXPECT_THAT(std::string(decode_image(bmp_of(1, 1, 16, "abcd")).status.message()),
              HasSubstr("must be 1, 3 or 4, was 2"));
  EXPECT_THAT(std::string(decode_image(bmp_of(1 << 20, 1 << 20, 24, "")).status.message()),
              HasSubstr("too large: 1048576 by 1048576"));
  EXPECT_FALSE(decode_image(bmp_of(1, INT32_MIN, 24, "")).status.ok());
}

TEST(Bmp, OutlivesDamage) { check_damage(kColors); }

}  // namespace
}  // namespace spillway::testing
