#include "spillway/io/images/image.h"

#include "spillway/base/hex.h"

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

namespace {

// By way of a whole image.
Status decode_whole(const RowJob& job, Workspace& workspace) {
  PixelExtent extent;
  std::byte* pixels = nullptr;
  const auto item = static_cast<std::int64_t>(job.options.wide ? 2 : 1);
  const auto room = [&](const PixelExtent& found) -> Result<std::byte*> {
    extent = found;
    SW_RETURN_IF_ERROR(job.sink->begin(extent));
    SW_ASSIGN(pixels, workspace.allocate(static_cast<std::size_t>(extent.items() * item)));
    return pixels;
  };
  SW_RETURN_IF_ERROR(job.codec->decode(job.bytes, job.options, workspace, room));
  return job.sink->take(pixels, extent.frames * extent.height,
                        extent.width * extent.channels * item);
}

}  // namespace

void decode_rows(std::span<RowJob> jobs, const AccountPtr& account, Buffer::Ask ask) {
  // Jobs of one format that follow each other go together.
  for (std::size_t begin = 0, end = 0; begin < jobs.size(); begin = end) {
    const ImageCodec* const codec = jobs[begin].codec;
    while (end < jobs.size() && jobs[end].codec == codec) ++end;
    const std::span<RowJob> some = jobs.subspan(begin, end - begin);
    if (codec->decode_rows != nullptr) {
      Workspace workspace(account, ask);
      codec->decode_rows(some, workspace);
      continue;
    }
    for (RowJob& job : some) {
      Workspace workspace(account, ask);
      job.status = decode_whole(job, workspace);
    }
  }
}

Result<ImageInfo> read_image_info(ImageBytes bytes, Workspace& workspace) {
  if (const ImageCodec* codec = find_image_codec(bytes)) return codec->read_info(bytes, workspace);
  return unknown_image(bytes);
}

Status unknown_image(ImageBytes bytes) {
  constexpr std::size_t kShown = 8;
  Status status =
      bytes.empty()
          ? bad_data(Code::kInvalidArgument, "Input is empty: expected an image, found 0 bytes")
          : bad_data(Code::kInvalidArgument,
                     "Unknown image file format. One of JPEG, PNG, GIF, BMP, WebP required: "
                     "expected the first bytes of one, found ",
                     in_hex(text_of(bytes).substr(0, kShown)), " at byte 0 of ", bytes.size());
  status.edit().offset = 0;
  return status;
}

Status image_too_large(ImageFormat format, std::int64_t width, std::int64_t height) {
  return bad_data(Code::kInvalidArgument, name_of(format), " size too large: ", width, " by ",
                  height);
}

}  // namespace spillway
