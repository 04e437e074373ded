#include <gmock/gmock.h>

#include "spillway/testing/images.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

constexpr PixelExtent kSmall{1, 40, 60, 3};

int largest_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  EXPECT_EQ(a.size(), b.size());
  int most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  return most;
}

TEST(Jpeg, GivesAboutWhatWasEncoded) {
  for (const bool progressive : {false, true}) {
    const Decoded got = decode_image(jpeg_of(kSmall, {.quality = 100, .progressive = progressive}));
    ASSERT_TRUE(got.status.ok()) << got.status.message();
    EXPECT_LE(largest_difference(got.pixels, gradient(kSmall)), 12);
  }
  const ImageInfo info = info_of(jpeg_of(kSmall)).value();
  EXPECT_EQ(info.height, 40);
  EXPECT_EQ(info.width, 60);
  EXPECT_EQ(info.channels, 3);
}

TEST(Jpeg, TurnsColorsToGrayAndBack) {
  EXPECT_EQ(decode_image(jpeg_of(kSmall), {.channels = 1}).extent.channels, 1);
  const Decoded got = decode_image(jpeg_of({1, 8, 8, 1}), {.channels = 3});
  EXPECT_EQ(got.extent.channels, 3);
  EXPECT_EQ(got.pixels[3], got.pixels[4]);
  EXPECT_EQ(decode_image(jpeg_of(kSmall), {.channels = 4}).status.kind(), ErrorKind::kUser);
}

TEST(Jpeg, ScalesWhileItDecodes) {
  const Decoded got = decode_image(jpeg_of(kSmall), {.ratio = 4});
  EXPECT_EQ(got.extent.height, 10);
  EXPECT_EQ(got.extent.width, 15);
}

TEST(Jpeg, CutsOutAWindow) {
  const std::string file = jpeg_of(kSmall, {.chroma_downsampling = false});
  const Decoded whole = decode_image(file);
  const CropWindow window{7, 21, 20, 30};
  DecodeOptions options;
  options.crop = window;
  const Decoded part = decode_image(file, options);
  ASSERT_TRUE(part.status.ok()) << part.status.message();
  for (std::int64_t y = 0; y < window.height; ++y) {
    for (std::int64_t i = 0; i < window.width * 3; ++i) {
      const auto from = static_cast<std::size_t>(((window.y + y) * 60 + window.x) * 3 + i);
      ASSERT_EQ(part.pixels[static_cast<std::size_t>(y * window.width * 3 + i)],
                whole.pixels[from]);
    }
  }
  options.crop = CropWindow{30, 0, 20, 10};
  EXPECT_THAT(std::string(decode_image(file, options).status.message()),
              HasSubstr("must lie in the image of 40 by 60"));
}

// Of every size around a block's, with each option.
TEST(Jpeg, HandsOverRowsThatAreThoseOfTheWholeImage) {
  std::vector<DecodeOptions> all(5);
  all[1].channels = 1;
  all[2].ratio = 2;
  all[3].crop = CropWindow{1, 2, 5, 4};
  all[4].accurate_dct = true;
  for (const std::int64_t height : {7, 16, 17, 33, 50}) {
    for (const bool progressive : {false, true}) {
      const std::string file = jpeg_of({1, height, height + 2, 3}, {.progressive = progressive});
      for (const DecodeOptions& options : all) {
        const Decoded whole = decode_image(file, options);
        const Decoded rows = decode_image_rows(file, options);
        ASSERT_TRUE(rows.status.ok()) << rows.status.message();
        EXPECT_EQ(rows.extent.height, whole.extent.height);
        EXPECT_EQ(rows.pixels, whole.pixels);
      }
      const std::string half = file.substr(0, file.size() * 3 / 4);
      EXPECT_EQ(decode_image_rows(half).status.message(), decode_image(half).status.message());
    }
  }
}

TEST(Jpeg, EndsWithTheErrorOfWhoeverTakesItsRows) {
  class Refuses final : public PixelSink {
   public:
    Status begin(const PixelExtent& /*extent*/) override { return {}; }
    Status take(const std::byte* /*rows*/, std::int64_t /*count*/,
                std::ptrdiff_t /*stride*/) override {
      return invalid_argument("no more");
    }
  } sink;
  const std::string file = jpeg_of(kSmall);
  Budget budget(std::size_t{1} << 20U);
  RowJob job{find_image_codec(bytes_of(file)), bytes_of(file), {}, &sink, {}};
  decode_rows({&job, 1}, budget.open_account("image"), Buffer::Ask::kOptional);
  EXPECT_EQ(job.status.message(), "no more");
}

TEST(Jpeg, MakesUpWhatIsMissingOnlyWhereAsked) {
  const std::string file = jpeg_of({1, 64, 64, 3});
  const std::string half = file.substr(0, file.size() * 3 / 4);
  const Decoded refused = decode_image(half);
  EXPECT_THAT(std::string(refused.status.message()), HasSubstr("the file ends too soon"));
  EXPECT_EQ(refused.status.info().offset, static_cast<std::int64_t>(half.size()));
  EXPECT_TRUE(decode_image(half, {.try_recover_truncated = true}).status.ok());
}

TEST(Jpeg, CountsWarningsOfLostPixelsAsDamage) {
  std::string file = jpeg_of({1, 64, 64, 3}, {.quality = 95});
  file.replace(file.size() * 3 / 4, 2, "\xFF\xD9");  // the end of the image, too soon
  const Decoded refused = decode_image(file);
  EXPECT_FALSE(refused.status.ok());
  const Decoded recovered = decode_image(file, {.try_recover_truncated = true});
  EXPECT_TRUE(recovered.status.ok()) << recovered.status.message();
}

TEST(Jpeg, RefusesCodedBytesThatAreLeftBeforeTheEnd) {
  for (const bool progressive : {false, true}) {
    const std::string good = jpeg_of({1, 64, 64, 3}, {.progressive = progressive});
    // libjpeg holds up to eight bytes back and says nothing of them.
    for (const std::size_t more :
         progressive ? std::vector{11UL, 300UL} : std::vector{1UL, 2UL, 7UL, 8UL, 300UL}) {
      std::string file = good;
      file.insert(file.size() - 2, more, 'x');
      const Decoded refused = decode_image(file);
      EXPECT_EQ(refused.status.code(), Code::kInvalidArgument) << more;
      EXPECT_GE(refused.status.info().offset, static_cast<std::int64_t>(good.size()) - 2 - 1);
      EXPECT_EQ(decode_image_rows(file).status.code(), Code::kInvalidArgument);
      EXPECT_TRUE(decode_image(file, {.try_recover_truncated = true}).status.ok());
    }
  }
}

TEST(Jpeg, LetsFillBytesBytesOfTheHeaderAndBytesBehindTheEndPass) {
  for (const bool progressive : {false, true}) {
    const std::string good = jpeg_of({1, 64, 64, 3}, {.progressive = progressive});
    const Decoded whole = decode_image(good);
    std::string filled = good;
    filled.insert(filled.size() - 2, 5, '\xFF');
    std::string odd = good;
    odd.insert(20, "stray");  // behind the JFIF segment
    for (const std::string& file : {filled, odd, good + "more", good + good}) {
      const Decoded same = decode_image(file);
      EXPECT_TRUE(same.status.ok()) << same.status.message();
      EXPECT_EQ(same.pixels, whole.pixels);
    }
  }
}

// The file says 65500 by 65500; progressive, all of it would be held at once.
TEST(Jpeg, RefusesABombBeforeItMakesRoom) {
  for (const bool progressive : {false, true}) {
    std::string file = jpeg_of(kSmall, {.progressive = progressive});
    const std::size_t frame = file.find(progressive ? "\xFF\xC2" : "\xFF\xC0");
    file.replace(frame + 5, 4, "\x3F\xFF\x20\x00", 4);
    EXPECT_EQ(decode_image(file).status.kind(), ErrorKind::kResource);
    file.replace(frame + 5, 4, "\xFF\xDC\xFF\xDC", 4);
    EXPECT_THAT(std::string(decode_image(file).status.message()), HasSubstr("size too large"));
  }
}

TEST(Jpeg, OutlivesDamage) {
  check_damage(jpeg_of(kSmall));
  check_damage(jpeg_of(kSmall, {.progressive = true}));
}

TEST(Jpeg, EncodesMetadataAndDensity) {
  const std::string file = jpeg_of(kSmall, {.density_in_cm = true, .xmp_metadata = "<x/>"});
  EXPECT_THAT(file, HasSubstr(std::string("http://ns.adobe.com/xap/1.0/\0<x/>", 33)));
  EXPECT_EQ(file[13], 2);
  EXPECT_TRUE(decode_image(file).status.ok());
}

}  // namespace
}  // namespace spillway::testing
