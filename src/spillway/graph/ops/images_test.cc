#include "spillway/testing/images.h"

#include <gmock/gmock.h>

#include "spillway/testing/op_call.h"

// The expected values are TensorFlow 2.21's.
namespace spillway::testing {
namespace {

using graph::Attrs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::int64_t> dims(const Tensor& tensor) {
  return {tensor.shape().dims().begin(), tensor.shape().dims().end()};
}
Tensor made(std::string_view op, const std::string& file, const Attrs& attrs = {}) {
  return one_of(call_op(op, {string_of(file)}, attrs));
}
std::string refusal(std::string_view op, const std::string& file, const Attrs& attrs = {}) {
  return error_of(call_op(op, {string_of(file)}, attrs));
}

const std::string kPng = png_of({1, 2, 3, 4, 5, 6}, {1, 1, 2, 3});
// One pixel, black, two frames.
const std::string kGif = std::string("GIF89a\1\0\1\0\x80\0\0\0\0\0\xFF\xFF\xFF", 19) +
                         std::string(",\0\0\0\0\1\0\1\0\0\2\2D\1\0", 15) +
                         std::string(",\0\0\0\0\1\0\1\0\0\2\2D\1\0;", 16);
const std::string kBmp =
    std::string("BM\x3A\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0", 30) +
    std::string(24, '\0') + std::string("\1\2\3\0", 4);

TEST(ImageOps, DecodeByContentNotByName) {
  const PixelExtent extent{1, 16, 24, 3};
  const std::string jpeg = jpeg_of(extent);
  for (const std::string_view op : {"decode_jpeg", "decode_png", "decode_image"}) {
    EXPECT_THAT(dims(made(op, jpeg)), ElementsAre(16, 24, 3)) << op;
    EXPECT_THAT(items_in<std::uint8_t>(made(op, kPng)), ElementsAre(1, 2, 3, 4, 5, 6)) << op;
  }
  EXPECT_THAT(dims(made("decode_gif", kPng)), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(items_in<std::uint8_t>(made("decode_bmp", kBmp)), ElementsAre(3, 2, 1));
  EXPECT_THAT(refusal("decode_bmp", kPng), HasSubstr("Expected BMP, found PNG"));
  EXPECT_THAT(refusal("decode_jpeg", kBmp), HasSubstr("use `decode_bmp`"));
  EXPECT_THAT(refusal("decode_jpeg", ""), HasSubstr("Input is empty: expected an image"));
  EXPECT_THAT(refusal("decode_image", "abc"), HasSubstr("Unknown image file format"));
}

TEST(ImageOps, AnimationsHaveOneAxisMore) {
  EXPECT_THAT(dims(made("decode_gif", kGif)), ElementsAre(2, 1, 1, 3));
  EXPECT_THAT(dims(made("decode_image", kGif)), ElementsAre(2, 1, 1, 3));
  EXPECT_THAT(dims(made("decode_image", kGif, {{"expand_animations", false}})),
              ElementsAre(1, 1, 3));
  EXPECT_THAT(refusal("decode_png", kGif), HasSubstr("Got 2 frames"));
}

TEST(ImageOps, ScaleToOtherTypes) {
  const Attrs wide{{"dtype", DType::kUInt16}};
  const Attrs floats{{"dtype", DType::kFloat32}};
  EXPECT_THAT(items_in<std::uint16_t>(made("decode_png", kPng, wide)),
              ElementsAre(257, 514, 771, 1028, 1285, 1542));
  EXPECT_THAT(items_in<std::uint16_t>(made("decode_image", kBmp, wide)),
              ElementsAre(768, 512, 256));
  constexpr float kByte = 1.0 / 255;
  constexpr float kWord = 1.0 / 65535;
  EXPECT_THAT(items_in<float>(made("decode_image", kBmp, floats)),
              ElementsAre(3 * kByte, 2 * kByte, kByte));
  EXPECT_EQ(made("decode_image", kPng, floats).as<float>()[5], 1542 * kWord);
  EXPECT_THAT(refusal("decode_png", kPng, floats), HasSubstr("must be uint8 or uint16"));
}

TEST(ImageOps, CropWhileDecoding) {
  const std::string file = jpeg_of({1, 40, 60, 3});
  const auto window = [&](std::initializer_list<std::int32_t> items) {
    return call_op("decode_and_crop_jpeg",
                   {string_of(file),
                    tensor_of<std::int32_t>(
                        DType::kInt32, Shape({static_cast<std::int64_t>(items.size())}), items)});
  };
  EXPECT_THAT(dims(one_of(window({3, 5, 10, 20}))), ElementsAre(10, 20, 3));
  EXPECT_THAT(error_of(window({3, 50, 10, 20})), HasSubstr("crop window"));
  EXPECT_THAT(error_of(window({3, 50, 10})), HasSubstr("crop_window must be 1-D"));
}

TEST(ImageOps, ReadTheShapeAlone) {
  const std::string file = jpeg_of({1, 40, 60, 3});
  EXPECT_THAT(items_in<std::int32_t>(made("extract_jpeg_shape", file)), ElementsAre(40, 60, 3));
  EXPECT_THAT(
      items_in<std::int64_t>(made("extract_jpeg_shape", file, {{"output_type", DType::kInt64}})),
      ElementsAre(40, 60, 3));
  EXPECT_THAT(refusal("extract_jpeg_shape", kPng), HasSubstr("Invalid JPEG data"));
  EXPECT_THAT(items_in<bool>(one_of(call_op("is_jpeg", {strings_of({file, "ab"})}))),
              ElementsAre(true, false));
}

TEST(ImageOps, RefuseArgumentsBeforeTheyRun) {
  EXPECT_THAT(refusal("decode_jpeg", "x", {{"channels", std::int64_t{2}}}),
              HasSubstr("must be 0, 1, 3 or 4 but got 2"));
  EXPECT_THAT(refusal("decode_jpeg", "x", {{"ratio", std::int64_t{3}}}),
              HasSubstr("ratio must be 1, 2, 4, or 8"));
  EXPECT_THAT(refusal("decode_jpeg", "x", {{"dct_method", std::string("FLOAT")}}),
              HasSubstr("dct_method"));
  EXPECT_THAT(error_of(call_op("decode_png", {strings_of({"a"})})), HasSubstr("must be scalar"));
}

TEST(ImageOps, EncodeWhatIsDecodedAgain) {
  Tensor images = make_tensor(op_account(), DType::kUInt16, Shape({2, 1, 2, 1})).value();
  for (int i = 0; i < 4; ++i) {
    reinterpret_cast<std::uint16_t*>(images.mutable_data())[i] =
        static_cast<std::uint16_t>(1000 * i);
  }
  const auto files = strings_in(one_of(call_op("encode_png", {images})));
  ASSERT_EQ(files.size(), 2U);
  EXPECT_THAT(items_in<std::uint16_t>(made("decode_png", files[1], {{"dtype", DType::kUInt16}})),
              ElementsAre(2000, 3000));
  const Tensor gray = tensor_of<std::uint8_t>(DType::kUInt8, Shape({1, 1, 1}), {77});
  const Attrs best{{"quality", std::int64_t{100}}};
  const auto file = strings_in(one_of(call_op("encode_jpeg", {gray}, best)))[0];
  EXPECT_THAT(items_in<std::uint8_t>(made("decode_jpeg", file)), ElementsAre(77));
  EXPECT_THAT(error_of(call_op("encode_jpeg", {gray}, {{"format", std::string("rgb")}})),
              HasSubstr("must have 3 channels, got [1,1,1]"));
  EXPECT_THAT(error_of(call_op("encode_jpeg", {gray}, {{"quality", std::int64_t{101}}})),
              HasSubstr("quality must be in [0,100]"));
  const Tensor none = tensor_of<std::uint8_t>(DType::kUInt8, Shape({0, 4, 3}), {});
  EXPECT_EQ(call_op("encode_jpeg", {none}).error().code(), Code::kInternal);
  EXPECT_EQ(call_op("encode_png", {none}).error().code(), Code::kInternal);
}

}  // namespace
}  // namespace spillway::testing
