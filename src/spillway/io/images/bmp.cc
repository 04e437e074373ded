#include <cstring>

#include "spillway/base/interrupt.h"
#include "spillway/io/images/image.h"

namespace spillway {
namespace {

// As much of a header as TensorFlow reads: sizes and bits, of whatever version.
constexpr std::size_t kHeader = 32;
constexpr std::int64_t kMostPixels = INT32_MAX / 8;

struct Layout {
  std::int64_t pixels_at = 0;  // offset of the first row
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 0;
  bool top_down = false;
  std::int64_t row_bytes() const { return (channels * width + 3) / 4 * 4; }
};

template <class T>
T little(ImageBytes bytes, std::size_t at) {
  T value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <class... Parts>
Status corrupt(ImageBytes bytes, std::size_t offset, const Parts&... parts) {
  return corrupt_image(ImageFormat::kBmp, bytes, offset, parts...);
}

Result<Layout> read_layout(ImageBytes bytes) {
  if (bytes.size() < kHeader) {
    return corrupt(bytes, bytes.size(), "Incomplete bmp content: expected a header of ", kHeader,
                   " bytes");
  }
  const auto pixels_at = little<std::int32_t>(bytes, 10);
  const auto height = little<std::int32_t>(bytes, 22);
  const auto bits = little<std::int16_t>(bytes, 28);
  Layout out{.pixels_at = pixels_at,
             .width = little<std::int32_t>(bytes, 18),
             .height = height < 0 ? -static_cast<std::int64_t>(height) : height,
             .channels = bits / 8,
             .top_down = height < 0};
  if (out.channels != 1 && out.channels != 3 && out.channels != 4) {
    return corrupt(bytes, 28, "Number of channels inherent in the image must be 1, 3 or 4, was ",
                   out.channels);
  }
  if (out.width <= 0) return corrupt(bytes, 18, "Width must be positive: ", out.width);
  if (out.height == 0) return corrupt(bytes, 22, "Height must be nonzero");
  if (pixels_at < 0) return corrupt(bytes, 10, "header size must be nonnegative: ", pixels_at);
  if (out.width >= kMostPixels || out.width * out.height >= kMostPixels) {
    return image_too_large(ImageFormat::kBmp, out.width, out.height);
  }
  const std::int64_t expected = out.pixels_at + out.row_bytes() * out.height;
  if (expected != static_cast<std::int64_t>(bytes.size())) {
    return corrupt(bytes, static_cast<std::size_t>(out.pixels_at),
                   "Input size should match header and rows: expected ", expected, " bytes, found ",
                   bytes.size());
  }
  return out;
}

bool claims(ImageBytes bytes) { return text_of(bytes).starts_with("BM"); }

Result<ImageInfo> read_info(ImageBytes bytes, Workspace& /*workspace*/) {
  SW_ASSIGN(const Layout layout, read_layout(bytes));
  return ImageInfo{ImageFormat::kBmp, layout.width, layout.height, layout.channels};
}

// One row: gray stays or is repeated, BGR and BGRA turn round, what has no alpha is opaque.
void copy_row(const std::byte* from, int have, std::byte* to, int want, std::int64_t width) {
  for (std::int64_t x = 0; x < width; ++x, from += have, to += want) {
    if (have == 1) {
      for (int c = 0; c < (want == 1 ? 1 : 3); ++c) to[c] = from[0];
    } else {
      for (int c = 0; c < 3; ++c) to[c] = from[2 - c];
    }
    if (want == 4) to[3] = have == 4 ? from[3] : std::byte{0xFF};
  }
}

Status decode(ImageBytes bytes, const DecodeOptions& options, Workspace& /*workspace*/,
              const PixelRoom& room) {
  if (options.channels == 1) {
    return invalid_argument("`channels` must be 0, 3 or 4 for BMP, but got 1");
  }
  SW_ASSIGN(const Layout layout, read_layout(bytes));
  const int want = options.channels == 0 ? layout.channels : options.channels;
  SW_ASSIGN(std::byte * to, room({1, layout.height, layout.width, want}));
  const std::byte* const rows = bytes.data() + layout.pixels_at;
  Looks looks;
  for (std::int64_t y = 0; y < layout.height; ++y, to += layout.width * want) {
    if (looks.abandoned(layout.width * want)) return cancelled();
    const std::int64_t row = layout.top_down ? y : layout.height - 1 - y;
    copy_row(rows + row * layout.row_bytes(), layout.channels, to, want, layout.width);
  }
  return {};
}

}  // namespace

extern const ImageCodec kBmpCodec{ImageFormat::kBmp, claims, read_info, decode};

}  // namespace spillway
