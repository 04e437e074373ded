#include <webp/decode.h>
#include <webp/demux.h>

#include <cstring>
#include <memory>

#include "spillway/io/images/image.h"

namespace spillway {
namespace {

const std::uint8_t* data_of(ImageBytes bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}
// libwebp tells no place: the error names the end of what it was given.
template <class... Parts>
Status corrupt(ImageBytes bytes, const Parts&... parts) {
  return corrupt_image(ImageFormat::kWebp, bytes, bytes.size(), parts...);
}

bool claims(ImageBytes bytes) {
  const std::string_view text = text_of(bytes);
  return text.size() > 12 && text.starts_with("RIFF") && text.substr(8).starts_with("WEBP");
}

Result<WebPBitstreamFeatures> read_features(ImageBytes bytes) {
  WebPBitstreamFeatures features;
  const VP8StatusCode code = WebPGetFeatures(data_of(bytes), bytes.size(), &features);
  if (code == VP8_STATUS_OK) return features;
  return corrupt(bytes, code == VP8_STATUS_NOT_ENOUGH_DATA ? "the file ends inside its header"
                                                           : "the header is not one of WebP");
}

struct DemuxDelete {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};
struct AnimationDelete {
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
};

// The extent of an animation, from its chunks.
Result<PixelExtent> measure_animation(ImageBytes bytes) {
  const WebPData data{data_of(bytes), bytes.size()};
  const std::unique_ptr<WebPDemuxer, DemuxDelete> demuxer(WebPDemux(&data));
  if (demuxer == nullptr) return corrupt(bytes, "the chunks of the animation are not whole");
  const PixelExtent out{.frames = WebPDemuxGetI(demuxer.get(), WEBP_FF_FRAME_COUNT),
                        .height = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT),
                        .width = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH),
                        .channels = 4};
  if (out.frames == 0) return corrupt(bytes, "the animation has no frames");
  return out;
}

Result<ImageInfo> read_info(ImageBytes bytes, Workspace& /*workspace*/) {
  SW_ASSIGN(const WebPBitstreamFeatures features, read_features(bytes));
  ImageInfo info{ImageFormat::kWebp, features.width, features.height,
                 features.has_alpha != 0 ? 4 : 3};
  if (features.has_animation != 0) {
    SW_ASSIGN(const PixelExtent extent, measure_animation(bytes));
    info.frames = extent.frames;
    info.channels = 4;
  }
  return info;
}

// What libwebp takes for one picture: lossless ones are decoded as a whole, of others only the
// alpha plane is; then some rows.
std::size_t working_bytes(std::size_t pixels, std::size_t width) {
  return pixels * 5 + width * 256 + (std::size_t{512} << 10U);
}

Status decode_animation(ImageBytes bytes, const DecodeOptions& options, Workspace& workspace,
                        const PixelRoom& room) {
  SW_ASSIGN(PixelExtent extent, measure_animation(bytes));
  const std::int64_t stored = extent.frames;
  if (options.first_frame) extent.frames = 1;
  const auto pixels = static_cast<std::size_t>(extent.width * extent.height);
  SW_ASSIGN(std::byte * to, room(extent));
  // Two canvases, and a picture that is as large at most.
  SW_RETURN_IF_ERROR(workspace.reserve(
      8 * pixels + working_bytes(pixels, static_cast<std::size_t>(extent.width))));
  const WebPData data{data_of(bytes), bytes.size()};
  const std::unique_ptr<WebPAnimDecoder, AnimationDelete> decoder(
      WebPAnimDecoderNew(&data, nullptr));
  if (decoder == nullptr) return corrupt(bytes, "the animation cannot be decoded");
  for (std::int64_t k = 0; k < extent.frames; ++k, to += 4 * pixels) {
    std::uint8_t* canvas = nullptr;
    int time = 0;
    if (WebPAnimDecoderGetNext(decoder.get(), &canvas, &time) == 0) {
      return corrupt(bytes, "frame ", k, " of ", stored, " cannot be decoded");
    }
    std::memcpy(to, canvas, 4 * pixels);
  }
  return {};
}

Status decode(ImageBytes bytes, const DecodeOptions& options, Workspace& workspace,
              const PixelRoom& room) {
  if (options.channels == 1) return invalid_argument("WebP only supports 3 or 4 channels");
  SW_ASSIGN(const WebPBitstreamFeatures features, read_features(bytes));
  const int channels = features.has_alpha != 0 ? 4 : 3;
  const bool animated = features.has_animation != 0;
  if (options.channels != 0 && options.channels != (animated ? 4 : channels)) {
    return bad_data(Code::kInvalidArgument,
                    "Number of channels requested does not match input: expected ",
                    options.channels, ", found ", animated ? 4 : channels);
  }
  if (animated) return decode_animation(bytes, options, workspace, room);
  const PixelExtent extent{1, features.height, features.width, channels};
  const auto width = static_cast<std::size_t>(extent.width);
  SW_ASSIGN(std::byte* const place, room(extent));
  SW_RETURN_IF_ERROR(
      workspace.reserve(working_bytes(width * static_cast<std::size_t>(extent.height), width)));
  auto* const to = reinterpret_cast<std::uint8_t*>(place);
  const int stride = static_cast<int>(extent.width) * channels;
  const auto into = channels == 4 ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (into(data_of(bytes), bytes.size(), to, static_cast<std::size_t>(extent.items()), stride) ==
      nullptr) {
    return corrupt(bytes, "the picture is damaged or not whole");
  }
  return {};
}

}  // namespace

extern const ImageCodec kWebpCodec{ImageFormat::kWebp, claims, read_info, decode};

}  // namespace spillway
