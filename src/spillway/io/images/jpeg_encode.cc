#include <array>

#include "spillway/base/interrupt.h"
#include "spillway/io/images/encode.h"
#include "spillway/io/images/jpeg_library.h"

namespace spillway {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 29U;

// Hands a sink what libjpeg made, a piece at a time.
class Destination : public jpeg_destination_mgr {
 public:
  explicit Destination(ByteSink& sink) : jpeg_destination_mgr{}, sink_(sink) {
    init_destination = [](j_compress_ptr info) { of(info).rewind(); };
    empty_output_buffer = [](j_compress_ptr info) -> boolean {
      of(info).flush(info, kPiece);
      return TRUE;
    };
    term_destination = [](j_compress_ptr info) {
      of(info).flush(info, kPiece - of(info).free_in_buffer);
    };
  }

 private:
  static constexpr std::size_t kPiece = 4096;
  static Destination& of(j_compress_ptr info) { return *static_cast<Destination*>(info->dest); }
  void rewind() {
    next_output_byte = piece_.data();
    free_in_buffer = kPiece;
  }
  void flush(j_compress_ptr info, std::size_t n) {
    if (!sink_.append(reinterpret_cast<const std::byte*>(piece_.data()), n)) {
      JpegErrors::give_up(reinterpret_cast<j_common_ptr>(info), "no room");
    }
    rewind();
  }

  ByteSink& sink_;
  std::array<JOCTET, kPiece> piece_{};
};

struct Encoder {
  Encoder(const JpegEncodeOptions& how, ByteSink& sink)
      : options(how), errors(/*strict=*/false), destination(sink) {
    info.err = errors.manager();
    info.client_data = &errors;
  }
  ~Encoder() { jpeg_destroy_compress(&info); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  const JpegEncodeOptions& options;
  JpegErrors errors;
  Destination destination;
  jpeg_compress_struct info{};
  PixelExtent extent;
  const std::byte* pixels = nullptr;
};

void configure(Encoder& e) {
  jpeg_compress_struct& info = e.info;
  jpeg_create_compress(&info);
  info.dest = &e.destination;
  info.image_width = static_cast<JDIMENSION>(e.extent.width);
  info.image_height = static_cast<JDIMENSION>(e.extent.height);
  info.input_components = static_cast<int>(e.extent.channels);
  info.in_color_space = e.extent.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  info.optimize_coding = e.options.optimize_size ? TRUE : FALSE;
  info.density_unit = e.options.density_in_cm ? 2 : 1;
  info.X_density = static_cast<UINT16>(e.options.x_density);
  info.Y_density = static_cast<UINT16>(e.options.y_density);
  jpeg_set_quality(&info, e.options.quality, TRUE);
  if (e.options.progressive) jpeg_simple_progression(&info);
  if (!e.options.chroma_downsampling) {
    for (int i = 0; i < info.num_components; ++i) {
      info.comp_info[i].h_samp_factor = 1;
      info.comp_info[i].v_samp_factor = 1;
    }
  }
}

void write_metadata(jpeg_compress_struct& info, std::string_view text) {
  if (text.empty()) return;
  constexpr std::string_view kNamespace("http://ns.adobe.com/xap/1.0/\0", 29);
  const std::size_t size = kNamespace.size() + text.size();
  jpeg_write_m_header(&info, JPEG_APP0 + 1, static_cast<unsigned>(size));
  for (const char c : kNamespace) jpeg_write_m_byte(&info, static_cast<unsigned char>(c));
  for (const char c : text) jpeg_write_m_byte(&info, static_cast<unsigned char>(c));
}

void write(Encoder& e) {
  jpeg_start_compress(&e.info, TRUE);
  write_metadata(e.info, e.options.xmp_metadata);
  const std::int64_t row_items = e.extent.width * e.extent.channels;
  Looks looks;
  while (e.info.next_scanline < e.info.image_height) {
    if (looks.abandoned(row_items)) return;
    const auto* const from =
        reinterpret_cast<const JSAMPLE*>(e.pixels + row_items * e.info.next_scanline);
    auto* row = const_cast<JSAMPROW>(from);  // which libjpeg only reads
    jpeg_write_scanlines(&e.info, &row, 1);
  }
  jpeg_finish_compress(&e.info);
}

}  // namespace

Status encode_jpeg(const std::byte* pixels, const PixelExtent& extent,
                   const JpegEncodeOptions& options, Workspace& workspace, ByteSink& out) {
  if (extent.width <= 0 || extent.height <= 0 || extent.width * extent.height >= kMostPixels) {
    return Status::error(ErrorKind::kData, Code::kInternal,
                         "JPEG encoding failed: the image must have between 1 and 2^29 pixels: ",
                         extent.height, " by ", extent.width);
  }
  Encoder e(options, out);
  e.extent = extent;
  e.pixels = pixels;
  bool done = e.errors.escape().run(e, configure);
  if (done) {
    // Blocks are not counted yet: as many as pixels, rounded up generously.
    const auto width = static_cast<std::size_t>(extent.width);
    std::size_t bytes = jpeg_working_bytes(nullptr, 0, 0, false) + 192 * width;
    if (options.progressive || options.optimize_size) {
      bytes += (width + 16) * static_cast<std::size_t>((extent.height + 16) * extent.channels) *
               sizeof(JCOEF);
    }
    SW_RETURN_IF_ERROR(workspace.reserve(bytes));
    done = e.errors.escape().run(e, write);
  }
  if (done) return given_up() ? cancelled() : Status();
  if (!out.status().ok()) return out.status();
  return Status::error(ErrorKind::kData, Code::kInternal,
                       "JPEG encoding failed: ", e.errors.message());
}

}  // namespace spillway
