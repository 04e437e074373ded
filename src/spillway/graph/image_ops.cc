#include "spillway/graph/image_ops.h"

#include <cstring>
#include <limits>

#include "spillway/base/bytes.h"
#include "spillway/tensor/extent.h"

namespace spillway::graph {

extern const DecodeOp kDecodeAndCropJpegCall;
extern const DecodeOp kDecodeBmpCall;
extern const DecodeOp kDecodeImageCall;
extern const DecodeOp kDecodeJpegCall;
extern const DecodeOp kDecodePngCall;

namespace {

using Frames = DecodeCall::Frames;
using Takes = DecodeCall::Takes;

// Bytes that lie at the end of the items they become.
template <class T, class Map>
void widen(std::byte* items, std::int64_t n, Map map) {
  const auto* const from =
      reinterpret_cast<const std::uint8_t*>(items) + n * static_cast<std::int64_t>(sizeof(T) - 1);
  auto* const to = reinterpret_cast<T*>(items);
  for (std::int64_t i = 0; i < n; ++i) to[i] = map(from[i]);
}

// As TensorFlow has it: a byte becomes the upper half of 16 bits; PNGs, which have 16 bits
// themselves, give floats from those.
void convert(std::byte* items, std::int64_t n, DType to, bool wide) {
  if (to == DType::kUInt16) {
    widen<std::uint16_t>(items, n, [](unsigned v) { return static_cast<std::uint16_t>(v * 256U); });
  } else if (to == DType::kFloat32 && !wide) {
    constexpr float kScale = 1.0 / std::numeric_limits<std::uint8_t>::max();
    widen<float>(items, n, [](std::uint8_t v) { return static_cast<float>(v) * kScale; });
  } else if (to == DType::kFloat32) {
    constexpr float kScale = 1.0 / std::numeric_limits<std::uint16_t>::max();
    auto* const floats = reinterpret_cast<float*>(items);
    for (std::int64_t i = 0; i < n; ++i) {
      std::uint16_t value = 0;  // copied: the two overlap
      std::memcpy(&value, items + 2 * (n + i), sizeof(value));
      floats[i] = static_cast<float>(value) * kScale;
    }
  }
}

// As in TensorFlow most ops take any format but BMP.
Status check_format(const DecodeCall& call, ImageFormat format) {
  const auto only = [&](ImageFormat wanted) {
    if (format == wanted) return Status();
    return bad_data(Code::kInvalidArgument, "Expected ", name_of(wanted), ", found ",
                    name_of(format), ": use `decode_image` instead");
  };
  if (format == ImageFormat::kWebp && call.dtype != DType::kUInt8) {
    return bad_data(Code::kInvalidArgument, "WebP only supports uint8 for dtype");
  }
  switch (call.takes) {
    case Takes::kAll:
      return {};
    case Takes::kJpeg:
      return only(ImageFormat::kJpeg);
    case Takes::kBmp:
      return only(ImageFormat::kBmp);
    case Takes::kWebp:
      return only(ImageFormat::kWebp);
    case Takes::kAllButBmp:
      if (format != ImageFormat::kBmp) return {};
  }
  return bad_data(Code::kInvalidArgument, "Found BMP: use `decode_bmp` or `decode_image` instead");
}

}  // namespace

Result<Shape> image_shape(const DecodeCall& call, ImageFormat format, const PixelExtent& extent) {
  const bool animates = format == ImageFormat::kGif || format == ImageFormat::kWebp;
  if (call.frames == Frames::kAll || (call.frames == Frames::kAsMade && animates)) {
    return Shape({extent.frames, extent.height, extent.width, extent.channels});
  }
  if (extent.frames != 1) {
    return bad_data(Code::kInvalidArgument, "Got ", extent.frames,
                    " frames, but animations can only be decoded by tf.io.decode_gif or "
                    "tf.io.decode_image");
  }
  return Shape({extent.height, extent.width, extent.channels});
}

Result<FoundImage> find_image(ImageBytes bytes, const DecodeCall& call) {
  const ImageCodec* const codec = find_image_codec(bytes);
  if (codec == nullptr) return unknown_image(bytes);
  SW_RETURN_IF_ERROR(check_format(call, codec->format));
  FoundImage found{codec, call.options};
  found.options.first_frame = call.frames == Frames::kFirst;
  found.options.wide = codec->format == ImageFormat::kPng && call.dtype != DType::kUInt8;
  return found;
}

namespace {

// Where there is no memory for an image, how large it is: a header of some bytes may claim any
// size.
Status with_size(Status status, const FoundImage& found, const Compute& c, DType dtype) {
  if (status.kind() != ErrorKind::kResource) return status;
  Workspace workspace(c.account, Buffer::Ask::kOptional);
  const auto info = found.codec->read_info(contents_of(c.inputs), workspace);
  if (!info.ok()) return status;
  const ImageInfo& image = info.value();
  const int channels = found.options.channels == 0 ? image.channels : found.options.channels;
  const std::int64_t items =
      saturated_product(saturated_product(image.width, image.height), channels);
  const auto item = static_cast<std::int64_t>(size_of(dtype));
  status.edit().message = std::string(name_of(found.codec->format)) + " of " +
                          std::to_string(image.width) + " x " + std::to_string(image.height) +
                          " pixels with " + std::to_string(channels) + " channels, " +
                          format_bytes(static_cast<std::size_t>(saturated_product(items, item))) +
                          " as " + std::string(name_of(dtype)) + ": " + status.info().message;
  return status;
}

}  // namespace

Status decode_contents(Compute& c, const DecodeCall& call) {
  const ImageBytes bytes = contents_of(c.inputs);
  SW_ASSIGN(const FoundImage found, find_image(bytes, call));
  const std::size_t item = found.options.wide ? 2 : 1;
  std::int64_t items = 0;
  std::optional<Tensor> out;
  Workspace workspace(c.account, c.ask);
  Status decoded = found.codec->decode(
      bytes, found.options, workspace, [&](const PixelExtent& extent) -> Result<std::byte*> {
        SW_ASSIGN(const Shape shape, image_shape(call, found.codec->format, extent));
        SW_ASSIGN(out, c.make(call.dtype, shape));
        items = extent.items();
        // Decoded to the end of the room, and made wider from there.
        return out->mutable_data() + static_cast<std::size_t>(items) * (size_of(call.dtype) - item);
      });
  if (!decoded.ok()) return with_size(std::move(decoded), found, c, call.dtype);
  if (size_of(call.dtype) > item) {
    convert(out->mutable_data(), items, call.dtype, found.options.wide);
  }
  out->buffer()->touch();
  c.outputs.push_back(std::move(*out));
  return {};
}

const DecodeOp* find_decode_op(const OpDef& op) {
  for (const DecodeOp* known : {&kDecodeAndCropJpegCall, &kDecodeBmpCall, &kDecodeImageCall,
                                &kDecodeJpegCall, &kDecodePngCall}) {
    if (known->op == &op) return known;
  }
  return nullptr;
}

Status need_contents(const Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  const Shape& shape = c.input(0).shape;
  if (!shape.has_rank() || shape.rank() == 0) return {};
  return invalid_argument("`contents` must be scalar but got shape ", shape.bracketed());
}

Result<int> channels_of(const Attrs& attrs) {
  const auto channels = attrs.get_or("channels", std::int64_t{0});
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4) {
    return invalid_argument("`channels` must be 0, 1, 3 or 4 but got ", channels);
  }
  return static_cast<int>(channels);
}

Status infer_image(Infer& c, DType dtype, bool frames) {
  SW_RETURN_IF_ERROR(need_contents(c));
  SW_ASSIGN(const int channels, channels_of(c.attrs()));
  const Shape shape({kUnknownDim, kUnknownDim, channels == 0 ? kUnknownDim : channels});
  c.set(0, dtype, frames ? shape.with_leading(kUnknownDim) : shape);
  return {};
}

Result<DecodeOptions> jpeg_options(const Attrs& attrs) {
  DecodeOptions out;
  SW_ASSIGN(out.channels, channels_of(attrs));
  const auto ratio = attrs.get_or("ratio", std::int64_t{1});
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) {
    return invalid_argument("ratio must be 1, 2, 4, or 8, got ", ratio);
  }
  out.ratio = static_cast<int>(ratio);
  out.fancy_upscaling = attrs.get_or("fancy_upscaling", true);
  out.try_recover_truncated = attrs.get_or("try_recover_truncated", false);
  const std::string method = attrs.get_or("dct_method", std::string());
  if (!method.empty() && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE") {
    return invalid_argument("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}: ",
                            method);
  }
  out.accurate_dct = method == "INTEGER_ACCURATE";
  return out;
}

}  // namespace spillway::graph
