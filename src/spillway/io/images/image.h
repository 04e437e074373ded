#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "spillway/io/images/workspace.h"

// Images in files. A decoder reads the header first and asks for the room of its pixels before
// any is made; what it needs beside them is charged, too. So a forged size is refused by the
// budget, and nothing is allocated for it. No decoder prints, aborts or throws.
namespace spillway {

enum class ImageFormat : std::uint8_t { kJpeg, kPng, kGif, kBmp, kWebp };
std::string_view name_of(ImageFormat format);  // "JPEG", "PNG", ...

struct ImageInfo {
  ImageFormat format = ImageFormat::kJpeg;
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 0;  // as a decoder gives them when it may choose
  std::int64_t frames = 1;
};

// Part of an image, in pixels of the output.
struct CropWindow {
  std::int64_t y = 0;
  std::int64_t x = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

// TensorFlow's options. A decoder leaves alone what is not about its format.
struct DecodeOptions {
  int channels = 0;          // 1, 3 or 4; 0: as the file has them
  bool wide = false;         // PNG: 16 bits an item
  bool first_frame = false;  // GIF, WebP: leaves out the others
  // JPEG.
  int ratio = 1;  // 1, 2, 4 or 8: that much smaller
  bool fancy_upscaling = true;
  bool accurate_dct = false;
  bool try_recover_truncated = false;   // what is missing or damaged is made up
  std::optional<CropWindow> crop = {};  // NOLINT(readability-redundant-member-init)
};

// What a decoder is going to write: frames x height x width x channels items without gaps.
struct PixelExtent {
  std::int64_t frames = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t items() const { return frames * height * width * channels; }
};
// Where they go. Called once at most, with an extent that is not empty.
using PixelRoom = std::function<Result<std::byte*>(const PixelExtent&)>;

// Takes an image's rows as they are decoded, in order from the top. A decoder calls begin() once,
// before any row; after one that gave up half-way another may begin() again, and restarts it.
class PixelSink {
 public:
  virtual ~PixelSink() = default;
  virtual Status begin(const PixelExtent& extent) = 0;
  // Where the next `count` rows may be written without gaps, to be taken from there; null: nowhere.
  virtual std::byte* place(std::int64_t /*count*/) { return nullptr; }
  // `count` further rows, `stride` bytes apart; valid during the call only.
  virtual Status take(const std::byte* rows, std::int64_t count, std::ptrdiff_t stride) = 0;
};

using ImageBytes = std::span<const std::byte>;

struct ImageCodec;

// An image of one frame on its way to a sink. `status` is how that went.
struct RowJob {
  const ImageCodec* codec = nullptr;
  ImageBytes bytes;
  DecodeOptions options;
  PixelSink* sink = nullptr;
  Status status;
};

// A format. One file each, which ends in its constant; image.cc lists them.
struct ImageCodec {
  ImageFormat format;
  bool (*claims)(ImageBytes bytes);  // by the first bytes
  Result<ImageInfo> (*read_info)(ImageBytes bytes, Workspace& workspace);
  // An error leaves the room in any state. Errors of the content are InvalidArgument of kind data,
  // with the offset where it is known.
  Status (*decode)(ImageBytes bytes, const DecodeOptions& options, Workspace& workspace,
                   const PixelRoom& room);
  // The same pixels handed to the jobs' sinks while they are in cache, without room for all of
  // them; an error of a sink's ends its image. All jobs are of this format. Null: it makes all rows
  // before the first is handed over.
  void (*decode_rows)(std::span<RowJob> jobs, Workspace& workspace) = nullptr;
};
// Null: none of ours.
const ImageCodec* find_image_codec(ImageBytes bytes);

// Decodes images of any formats on this thread; a format may work on several at a time.
void decode_rows(std::span<RowJob> jobs, const AccountPtr& account, Buffer::Ask ask);

// What the header says; the pixels are not looked at.
Result<ImageInfo> read_image_info(ImageBytes bytes, Workspace& workspace);

// ---- What codecs share
// ---------------------------------------------------------------------------

inline std::string_view text_of(ImageBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
// "Invalid PNG data at byte 33 of 90: ...".
template <class... Parts>
Status corrupt_image(ImageFormat format, ImageBytes bytes, std::size_t offset,
                     const Parts&... parts) {
  Status status = bad_data(Code::kInvalidArgument, "Invalid ", name_of(format), " data at byte ",
                           offset, " of ", bytes.size(), ": ", parts...);
  status.edit().offset = static_cast<std::int64_t>(offset);
  return status;
}
// Bytes that no codec claims.
Status unknown_image(ImageBytes bytes);
// Sizes that no image of this format may have: TensorFlow's limits.
Status image_too_large(ImageFormat format, std::int64_t width, std::int64_t height);

}  // namespace spillway
