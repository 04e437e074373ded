#include <algorithm>
#include <cstring>

#include "spillway/base/interrupt.h"
#include "spillway/io/images/image.h"
#include "spillway/io/images/png_library.h"

namespace spillway {
namespace {

constexpr std::int64_t kMostWidth = std::int64_t{1} << 27U;   // TensorFlow's
constexpr std::int64_t kMostPixels = std::int64_t{1} << 29U;  // the same

// What the steps of reading share. They may be left at any call of libpng's.
struct Decoder {
  Decoder(ImageBytes from, Workspace& workspace) : bytes(from), library(workspace) {}
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Status open() {
    png = library.make_reader();
    if (png == nullptr) return failure();
    return run(read_header);
  }
  Status run(void (*step)(Decoder&)) {
    return library.escape().run(*this, step) ? Status() : failure();
  }
  Status failure() const {
    if (!library.refused().ok()) return library.refused();
    return corrupt_image(ImageFormat::kPng, bytes, at, library.message());
  }
  static void read_header(Decoder& d);

  const ImageBytes bytes;
  std::size_t at = 0;
  PngLibrary library;
  png_structp png = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0;
  png_uint_32 height = 0;
  int depth = 0;
  int color = 0;
  bool has_transparency = false;  // a color or a palette's alpha
  int channels = 0;
  bool wide = false;     // 16 bits an item are asked for
  bool widened = false;  // and 8 are stored
  int passes = 1;
  std::byte* out = nullptr;
};

void read_bytes(png_structp png, png_bytep to, std::size_t n) {
  auto& d = *static_cast<Decoder*>(png_get_io_ptr(png));
  if (n > d.bytes.size() - d.at) png_error(png, "the file ends too soon");
  std::memcpy(to, d.bytes.data() + d.at, n);
  d.at += n;
}

void Decoder::read_header(Decoder& d) {
  // Texts and the like cost memory and tell nothing of the pixels.
  static constexpr char kIgnored[] = "tEXt\0zTXt\0iTXt\0eXIf\0sPLT\0hIST\0tIME\0pCAL\0sCAL\0oFFs";
  d.info = png_create_info_struct(d.png);
  if (d.info == nullptr) png_error(d.png, "out of memory");
  png_set_keep_unknown_chunks(d.png, PNG_HANDLE_CHUNK_NEVER,
                              reinterpret_cast<png_const_bytep>(kIgnored), sizeof(kIgnored) / 5);
  png_set_read_fn(d.png, &d, read_bytes);
  png_read_info(d.png, d.info);
  png_get_IHDR(d.png, d.info, &d.width, &d.height, &d.depth, &d.color, nullptr, nullptr, nullptr);
  d.has_transparency = png_get_valid(d.png, d.info, PNG_INFO_tRNS) != 0;
  d.channels = d.color != PNG_COLOR_TYPE_PALETTE ? png_get_channels(d.png, d.info)
               : d.has_transparency              ? 4
                                                 : 3;
}

// In TensorFlow's order and with its numbers: gray is ITU-R 601's.
void transform(Decoder& d) {
  const bool stored_alpha = (d.color & PNG_COLOR_MASK_ALPHA) != 0;
  if (d.channels % 2 == 0) {
    if (!stored_alpha && d.has_transparency) {
      png_set_tRNS_to_alpha(d.png);
    } else if (!stored_alpha) {
      png_set_add_alpha(d.png, (1U << static_cast<unsigned>(d.depth)) - 1U, PNG_FILLER_AFTER);
    }
  } else if (stored_alpha || d.has_transparency) {
    png_set_strip_alpha(d.png);
  }
  if (d.depth > 8 && !d.wide) png_set_strip_16(d.png);
  png_set_packing(d.png);
  d.passes = png_set_interlace_handling(d.png);
  if (d.wide) png_set_swap(d.png);
  if (d.color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(d.png);
  const bool stored_gray = (d.color & PNG_COLOR_MASK_COLOR) == 0;
  if (stored_gray && d.depth < 8) png_set_expand_gray_1_2_4_to_8(d.png);
  if (d.channels < 3 && !stored_gray)
    png_set_rgb_to_gray(d.png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (d.channels >= 3 && stored_gray) png_set_gray_to_rgb(d.png);
  png_read_update_info(d.png, d.info);
  const std::size_t item = d.wide && !d.widened ? 2 : 1;
  if (png_get_rowbytes(d.png, d.info) != item * d.width * static_cast<std::size_t>(d.channels)) {
    png_error(d.png, "rows are not of the expected size");
  }
}

// Ends early where the work is abandoned.
void read_rows(Decoder& d) {
  const std::size_t row = png_get_rowbytes(d.png, d.info);
  Looks looks;
  for (int pass = 0; pass < d.passes; ++pass) {
    for (png_uint_32 y = 0; y < d.height; ++y) {
      if (looks.abandoned(static_cast<std::int64_t>(row))) return;
      png_read_row(d.png, reinterpret_cast<png_bytep>(d.out + y * row), nullptr);
    }
  }
  png_read_end(d.png, d.info);
}

bool claims(ImageBytes bytes) { return text_of(bytes).starts_with("\x89PNG\r\n\x1A\n"); }

Result<ImageInfo> read_info(ImageBytes bytes, Workspace& workspace) {
  Decoder d(bytes, workspace);
  SW_RETURN_IF_ERROR(d.open());
  return ImageInfo{ImageFormat::kPng, d.width, d.height, d.channels};
}

Status decode(ImageBytes bytes, const DecodeOptions& options, Workspace& workspace,
              const PixelRoom& room) {
  Decoder d(bytes, workspace);
  SW_RETURN_IF_ERROR(d.open());
  const std::int64_t width = d.width;
  const std::int64_t height = d.height;
  if (width >= kMostWidth || height >= kMostWidth || width * height >= kMostPixels) {
    return image_too_large(ImageFormat::kPng, width, height);
  }
  if (options.channels != 0) d.channels = options.channels;
  d.wide = options.wide;
  d.widened = d.wide && d.depth <= 8;
  const PixelExtent extent{1, height, width, d.channels};
  SW_RETURN_IF_ERROR(d.run(transform));
  SW_ASSIGN(std::byte* const place, room(extent));
  const auto items = static_cast<std::size_t>(extent.items());
  // Bytes that become twice as long are first put behind the half they will fill.
  d.out = d.widened ? place + items : place;
  SW_RETURN_IF_ERROR(d.run(read_rows));
  if (given_up()) return cancelled();
  if (d.widened) {
    for (std::size_t i = 0; i < items; ++i) {
      const std::byte value = d.out[i];
      place[2 * i] = value;
      place[2 * i + 1] = value;
    }
  }
  return {};
}

}  // namespace

extern const ImageCodec kPngCodec{ImageFormat::kPng, claims, read_info, decode};

}  // namespace spillway
