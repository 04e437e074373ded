#include <array>
#include <cstring>

#include "spillway/base/interrupt.h"
#include "spillway/io/images/encode.h"
#include "spillway/io/images/png_library.h"

namespace spillway {
namespace {

struct Encoder {
  Encoder(Workspace& workspace, ByteSink& sink) : library(workspace), out(sink) {}
  ~Encoder() { png_destroy_write_struct(&png, &info); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  PngLibrary library;
  ByteSink& out;
  png_structp png = nullptr;
  png_infop info = nullptr;
  PixelExtent extent;
  const std::byte* pixels = nullptr;
  bool wide = false;
  int compression = -1;
};

void write_bytes(png_structp png, png_bytep bytes, std::size_t n) {
  auto& out = *static_cast<ByteSink*>(png_get_io_ptr(png));
  if (!out.append(reinterpret_cast<const std::byte*>(bytes), n)) png_error(png, "no room");
}

void write(Encoder& e) {
  static constexpr std::array<int, 4> kColors = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                                 PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  e.info = png_create_info_struct(e.png);
  if (e.info == nullptr) png_error(e.png, "out of memory");
  png_set_write_fn(e.png, &e.out, write_bytes, [](png_structp) {});
  png_set_compression_level(e.png, e.compression);
  png_set_compression_mem_level(e.png, 9);
  png_set_IHDR(e.png, e.info, static_cast<png_uint_32>(e.extent.width),
               static_cast<png_uint_32>(e.extent.height), e.wide ? 16 : 8,
               kColors[static_cast<std::size_t>(e.extent.channels - 1)], PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(e.png, e.info);
  if (e.wide) png_set_swap(e.png);
  const std::int64_t row = e.extent.width * e.extent.channels * (e.wide ? 2 : 1);
  Looks looks;
  for (std::int64_t y = 0; y < e.extent.height; ++y) {
    if (looks.abandoned(row)) return;
    png_write_row(e.png, reinterpret_cast<png_const_bytep>(e.pixels + y * row));
  }
  png_write_end(e.png, nullptr);
}

}  // namespace

Status encode_png(const std::byte* pixels, const PixelExtent& extent, bool wide, int compression,
                  Workspace& workspace, ByteSink& out) {
  const auto failed = [](const auto&... parts) {
    return Status::error(ErrorKind::kData, Code::kInternal, "PNG encoding failed: ", parts...);
  };
  if (extent.width <= 0 || extent.height <= 0) {
    return failed("the image has no pixels: ", extent.height, " by ", extent.width);
  }
  Encoder e(workspace, out);
  e.extent = extent;
  e.pixels = pixels;
  e.wide = wide;
  e.compression = compression;
  e.png = e.library.make_writer();
  if (e.png != nullptr && e.library.escape().run(e, write)) {
    return given_up() ? cancelled() : Status();
  }
  if (!e.library.refused().ok()) return e.library.refused();
  if (!out.status().ok()) return out.status();
  return failed(e.library.message());
}

}  // namespace spillway
