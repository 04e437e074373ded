#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "spillway/base/interrupt.h"
#include "spillway/io/images/jpeg_baseline.h"
#include "spillway/io/images/jpeg_library.h"

namespace spillway {
namespace {

constexpr std::int64_t kMostItems = std::int64_t{1} << 29U;  // TensorFlow's
// A file of a few hundred kilobytes could keep a core busy for hours with scans that add nothing.
constexpr int kMostScans = 500;

// The bytes of a file in memory. Where they end too soon, recovering ends the image there.
class Source : public jpeg_source_mgr {
 public:
  Source(ImageBytes bytes, bool recover) : jpeg_source_mgr{}, bytes_(bytes), recover_(recover) {
    next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    bytes_in_buffer = bytes.size();
    init_source = [](j_decompress_ptr) {};
    term_source = [](j_decompress_ptr) {};
    resync_to_restart = jpeg_resync_to_restart;
    fill_input_buffer = end_early;
    skip_input_data = skip;
  }
  std::size_t position() const {
    const auto* const at = reinterpret_cast<const std::byte*>(next_input_byte);
    const bool inside = at >= bytes_.data() && at <= bytes_.data() + bytes_.size();
    return inside ? static_cast<std::size_t>(at - bytes_.data()) : bytes_.size();
  }

 private:
  static boolean end_early(j_decompress_ptr info) {
    static constexpr std::array<JOCTET, 2> kEnd = {0xFF, JPEG_EOI};
    auto& self = *static_cast<Source*>(info->src);
    if (!self.recover_ || self.ended_) {
      self.next_input_byte = nullptr;  // the entropy decoder notes its place only now and then
      JpegErrors::give_up(reinterpret_cast<j_common_ptr>(info), "the file ends too soon");
    }
    self.ended_ = true;
    self.next_input_byte = kEnd.data();
    self.bytes_in_buffer = kEnd.size();
    return TRUE;
  }
  static void skip(j_decompress_ptr info, long n) {
    auto& self = *static_cast<Source*>(info->src);
    if (n <= 0) return;
    const auto passed = std::min(static_cast<std::size_t>(n), self.bytes_in_buffer);
    self.next_input_byte += passed;
    self.bytes_in_buffer -= passed;
    if (passed < static_cast<std::size_t>(n)) end_early(info);
  }

  const ImageBytes bytes_;
  const bool recover_;
  bool ended_ = false;
};

// What the steps of a decompression share. They may be left at any call of libjpeg's.
struct Decoder {
  Decoder(ImageBytes from, bool recover)
      : bytes(from), errors(/*strict=*/!recover), source(from, recover) {
    info.err = errors.manager();
    info.client_data = &errors;
  }
  ~Decoder() { jpeg_destroy_decompress(&info); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Status run(void (*step)(Decoder&)) {
    if (errors.escape().run(*this, step)) return {};
    return corrupt_image(ImageFormat::kJpeg, bytes, source.position(), errors.message());
  }
  Status read_header() {
    return run([](Decoder& d) {
      jpeg_create_decompress(&d.info);
      d.info.src = &d.source;
      d.info.progress = &d.progress;
      d.progress.progress_monitor = [](j_common_ptr any) {
        if (reinterpret_cast<j_decompress_ptr>(any)->input_scan_number > kMostScans) {
          JpegErrors::give_up(any, "more than 500 scans");
        }
      };
      jpeg_read_header(&d.info, TRUE);
    });
  }

  const ImageBytes bytes;
  JpegErrors errors;
  Source source;
  jpeg_progress_mgr progress{};
  jpeg_decompress_struct info{};
  CropWindow window;
  bool crops = false;
  bool cmyk = false;
  std::int64_t channels = 0;
  JSAMPROW strip = nullptr;  // room for a row that is not the output's as it is
  JSAMPROW rows = nullptr;   // room for rows that have no place at the sink
  PixelSink* sink = nullptr;
  Status refused;  // by the sink
};

bool claims(ImageBytes bytes) { return text_of(bytes).starts_with("\xFF\xD8\xFF"); }

Result<ImageInfo> read_info(ImageBytes bytes, Workspace& /*workspace*/) {
  Decoder d(bytes, false);
  SW_RETURN_IF_ERROR(d.read_header());
  SW_RETURN_IF_ERROR(d.run([](Decoder& self) { jpeg_calc_output_dimensions(&self.info); }));
  return ImageInfo{ImageFormat::kJpeg, d.info.output_width, d.info.output_height,
                   d.info.out_color_components};
}

// Colors, scale and window, as asked for.
Status configure(Decoder& d, const DecodeOptions& options) {
  jpeg_decompress_struct& info = d.info;
  d.channels = options.channels != 0 ? options.channels : std::min(info.num_components, 3);
  if (d.channels != 1 && d.channels != 3) {
    return corrupt_image(ImageFormat::kJpeg, d.bytes, d.source.position(),
                         "expected 1, 3 or 4 components, found ", info.num_components);
  }
  d.cmyk =
      d.channels == 3 && (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK);
  info.out_color_space = d.channels == 1 ? JCS_GRAYSCALE : d.cmyk ? JCS_CMYK : JCS_RGB;
  info.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(options.ratio);
  info.dct_method = options.accurate_dct ? JDCT_ISLOW : JDCT_IFAST;
  SW_RETURN_IF_ERROR(d.run([](Decoder& self) { jpeg_calc_output_dimensions(&self.info); }));
  const std::int64_t width = info.output_width;
  const std::int64_t height = info.output_height;
  if (width * height * info.num_components >= kMostItems) {
    return image_too_large(ImageFormat::kJpeg, width, height);
  }
  d.window = {0, 0, height, width};
  if (!options.crop) return {};
  const CropWindow& crop = *options.crop;
  if (crop.width <= 0 || crop.height <= 0 || crop.x < 0 || crop.y < 0 ||
      crop.y + crop.height > height || crop.x + crop.width > width) {
    return bad_data(Code::kInvalidArgument, "Invalid JPEG data or crop window: ", crop.height,
                    " by ", crop.width, " pixels at y=", crop.y, ", x=", crop.x,
                    " must lie in the image of ", height, " by ", width);
  }
  d.window = crop;
  d.crops = true;
  return {};
}

// Multiplies inks, or their inverse, which is what Adobe stores.
void cmyk_to_rgb(const JSAMPLE* from, JSAMPLE* to, std::int64_t width, bool inverse) {
  for (std::int64_t x = 0; x < width; ++x, from += 4, to += 3) {
    const int k = inverse ? from[3] : 255 - from[3];
    for (int c = 0; c < 3; ++c) {
      to[c] = static_cast<JSAMPLE>(k * (inverse ? from[c] : 255 - from[c]) / 255);
    }
  }
}

// The next row of the output, at `out`.
void read_row(Decoder& d, JSAMPROW out) {
  const std::int64_t before = d.info.output_width - d.window.width;
  const bool direct = !d.cmyk && before == 0;
  if (jpeg_read_scanlines(&d.info, direct ? &out : &d.strip, 1) != 1) {
    JpegErrors::give_up(reinterpret_cast<j_common_ptr>(&d.info), "the file ends inside a row");
  }
  if (d.cmyk) {
    cmyk_to_rgb(d.strip + 4 * before, out, d.window.width, d.info.saw_Adobe_marker != 0);
  } else if (!direct) {
    std::memcpy(out, d.strip + before * d.channels,
                static_cast<std::size_t>(d.window.width * d.channels));
  }
}

constexpr std::int64_t kRowsAtOnce = 16;

void read_rows(Decoder& d) {
  jpeg_decompress_struct& info = d.info;
  jpeg_start_decompress(&info);
  if (d.crops) {
    // libjpeg begins at a whole block and widens the window for it.
    auto x = static_cast<JDIMENSION>(d.window.x);
    auto width = static_cast<JDIMENSION>(d.window.width);
    jpeg_crop_scanline(&info, &x, &width);
    jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(d.window.y));
  }
  const std::int64_t row_items = d.window.width * d.channels;
  for (std::int64_t y = 0; y < d.window.height; y += kRowsAtOnce) {
    const std::int64_t count = std::min(kRowsAtOnce, d.window.height - y);
    std::byte* const place = d.sink->place(count);
    auto* const rows = place == nullptr ? d.rows : reinterpret_cast<JSAMPROW>(place);
    for (std::int64_t i = 0; i < count; ++i) read_row(d, rows + i * row_items);
    d.refused = d.sink->take(reinterpret_cast<const std::byte*>(rows), count, row_items);
    if (!d.refused.ok()) return;
  }
  // The rest is looked at all the same: a file that ends there is damaged.
  if (info.output_scanline < info.output_height) {
    jpeg_skip_scanlines(&info, info.output_height - info.output_scanline);
  }
  jpeg_finish_decompress(&info);
}

// The pixels of a whole image, which may be begun twice.
class WholeImage final : public PixelSink {
 public:
  explicit WholeImage(const PixelRoom& room) : room_(room) {}
  Status begin(const PixelExtent& extent) override {
    row_ = extent.width * extent.channels;
    if (first_ == nullptr) {
      SW_ASSIGN(first_, room_(extent));
      items_ = extent.items();
    }
    // Both decoders read the same header; the room is of the first one's size.
    if (extent.items() != items_) return internal_bug("JPEG: two decoders disagree on the size");
    next_ = first_;
    return {};
  }
  std::byte* place(std::int64_t /*count*/) override { return next_; }
  Status take(const std::byte* /*rows*/, std::int64_t count, std::ptrdiff_t /*stride*/) override {
    next_ += count * row_;
    return looks_.abandoned(count * row_) ? cancelled() : Status();
  }

 private:
  const PixelRoom& room_;
  std::byte* first_ = nullptr;
  std::byte* next_ = nullptr;
  std::int64_t items_ = 0;
  std::int64_t row_ = 0;
  Looks looks_;
};

Status decode(ImageBytes bytes, const DecodeOptions& options, Workspace& workspace,
              const PixelRoom& room) {
  WholeImage image(room);
  JpegJob job{bytes, &image};
  decode_jpegs({&job, 1}, options, workspace);
  if (job.done) return job.status;
  return decode_jpeg_by_library(bytes, options, workspace, image);
}

// Whether two calls differ in nothing but their windows.
bool alike(const DecodeOptions& a, const DecodeOptions& b) {
  return a.channels == b.channels && a.ratio == b.ratio && a.fancy_upscaling == b.fancy_upscaling &&
         a.accurate_dct == b.accurate_dct && a.try_recover_truncated == b.try_recover_truncated;
}

void decode_alike(std::span<RowJob> jobs, Workspace& workspace) {
  std::vector<JpegJob> ours;
  ours.reserve(jobs.size());
  for (const RowJob& job : jobs) ours.push_back({job.bytes, job.sink, job.options.crop});
  decode_jpegs(ours, jobs[0].options, workspace);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (ours[i].done) {
      jobs[i].status = std::move(ours[i].status);
    } else {
      Workspace own = workspace.sibling();
      jobs[i].status = decode_jpeg_by_library(jobs[i].bytes, jobs[i].options, own, *jobs[i].sink);
    }
  }
}

void decode_rows(std::span<RowJob> jobs, Workspace& workspace) {
  for (std::size_t begin = 0, end = 0; begin < jobs.size(); begin = end) {
    while (end < jobs.size() && alike(jobs[end].options, jobs[begin].options)) ++end;
    decode_alike(jobs.subspan(begin, end - begin), workspace);
  }
}

}  // namespace

Status decode_jpeg_by_library(ImageBytes bytes, const DecodeOptions& options, Workspace& workspace,
                              PixelSink& sink) {
  if (options.channels == 4) return invalid_argument("JPEG does not support 4 channels");
  Decoder d(bytes, options.try_recover_truncated);
  SW_RETURN_IF_ERROR(d.read_header());
  SW_RETURN_IF_ERROR(configure(d, options));
  const auto width = static_cast<std::size_t>(d.info.output_width);
  SW_RETURN_IF_ERROR(sink.begin({1, d.window.height, d.window.width, d.channels}));
  SW_RETURN_IF_ERROR(workspace.reserve(jpeg_working_bytes(
      d.info.comp_info, d.info.num_components, width, jpeg_has_multiple_scans(&d.info) != 0)));
  if (d.cmyk || d.crops) {
    SW_ASSIGN(std::byte* const strip, workspace.allocate(4 * width));
    d.strip = reinterpret_cast<JSAMPROW>(strip);
  }
  if (sink.place(1) == nullptr) {
    const std::int64_t items = std::min(kRowsAtOnce, d.window.height) * d.window.width * d.channels;
    SW_ASSIGN(std::byte* const rows, workspace.allocate(static_cast<std::size_t>(items)));
    d.rows = reinterpret_cast<JSAMPROW>(rows);
  }
  d.sink = &sink;
  SW_RETURN_IF_ERROR(d.run(read_rows));
  return std::move(d.refused);
}

extern const ImageCodec kJpegCodec{ImageFormat::kJpeg, claims, read_info, decode, decode_rows};

}  // namespace spillway
