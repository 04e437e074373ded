#include "spillway/io/images/image.h"

namespace spillway {

extern const ImageCodec kBmpCodec;
extern const ImageCodec kGifCodec;
extern const ImageCodec kJpegCodec;
extern const ImageCodec kPngCodec;
extern const ImageCodec kWebpCodec;

std::string_view name_of(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kGif:
      return "GIF";
    case ImageFormat::kBmp:
      return "BMP";
    case ImageFormat::kWebp:
      return "WebP";
  }
  return "";
}

const ImageCodec* find_image_codec(ImageBytes bytes) {
  for (const ImageCodec* codec : {&kJpegCodec, &kPngCodec, &kGifCodec, &kBmpCodec, &kWebpCodec}) {
    if (codec->claims(bytes)) return codec;
  }
  return nullptr;
}

Result<ImageInfo> read_image_info(ImageBytes bytes, Workspace& workspace) {
  if (const ImageCodec* codec = find_image_codec(bytes)) return codec->read_info(bytes, workspace);
  return bad_data(Code::kInvalidArgument,
                  "Unknown image file format. One of JPEG, PNG, GIF, BMP, WebP required.");
}

Status image_too_large(ImageFormat format, std::int64_t width, std::int64_t height) {
  return bad_data(Code::kInvalidArgument, name_of(format), " size too large: ", width, " by ",
                  height);
}

}  // namespace spillway
