#pragma once

#include "spillway/graph/strings.h"
#include "spillway/io/images/image.h"

// What the ops that decode images share.
namespace spillway::graph {

// How a decoding op of TensorFlow's differs from its siblings.
struct DecodeCall {
  DecodeOptions options = {};
  DType dtype = DType::kUInt8;  // or kUInt16, kFloat32: scaled to all of the range, to [0, 1]
  enum class Frames : std::uint8_t {
    kOne,     // rank 3; an animation is refused
    kAll,     // rank 4, whatever the format
    kAsMade,  // rank 4 where the format may hold an animation
    kFirst,   // rank 3, of the first frame
  } frames = Frames::kOne;
  enum class Takes : std::uint8_t { kAllButBmp, kAll, kJpeg, kBmp, kWebp };
  Takes takes = Takes::kAllButBmp;
};
// The scalar `contents`, decoded, becomes the output.
Status decode_contents(Compute& c, const DecodeCall& call);

// The same in two parts, for whoever takes the pixels row by row. What is refused is refused as
// decode_contents does.
struct FoundImage {
  const ImageCodec* codec = nullptr;
  DecodeOptions options;
};
Result<FoundImage> find_image(ImageBytes bytes, const DecodeCall& call);
Result<Shape> image_shape(const DecodeCall& call, ImageFormat format, const PixelExtent& extent);

// An op that decodes its first operand to one image, and how it does so for some attributes and
// operands. One constant each, at the end of its file; image_ops.cc lists them.
struct DecodeOp {
  const OpDef* op;
  Result<DecodeCall> (*call)(const Attrs& attrs, std::span<const Tensor> inputs);
};
// Null: the op decodes no images.
const DecodeOp* find_decode_op(const OpDef& op);

// Input 0 is one string.
Status need_contents(const Infer& c);
// The attribute `channels`: 0, 1, 3 or 4.
Result<int> channels_of(const Attrs& attrs);
// Needs contents; the output is [None, None, channels], with one more axis for `frames`.
Status infer_image(Infer& c, DType dtype, bool frames = false);
// The attributes of decode_jpeg and decode_and_crop_jpeg.
Result<DecodeOptions> jpeg_options(const Attrs& attrs);

inline ImageBytes contents_of(std::span<const Tensor> inputs) {
  const std::string_view text = inputs[0].string_at(0);
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
// What such an op computes.
template <Result<DecodeCall> (*call_of)(const Attrs&, std::span<const Tensor>)>
Status decode_with(Compute& c) {
  SW_ASSIGN(const DecodeCall call, call_of(c.attrs, c.inputs));
  return decode_contents(c, call);
}

inline constexpr ParamDef kContents{"contents", ParamKind::kTensor, "", 's'};
inline constexpr ParamDef kChannels{"channels", ParamKind::kInt, "0"};
// What decode_jpeg and decode_and_crop_jpeg end in. `acceptable_fraction` has no effect, nor has it
// in TensorFlow: a file that ends too soon is an error, or recovered from whole.
inline constexpr ParamDef kRatio{"ratio", ParamKind::kInt, "1"};
inline constexpr ParamDef kFancyUpscaling{"fancy_upscaling", ParamKind::kBool, "True"};
inline constexpr ParamDef kTryRecover{"try_recover_truncated", ParamKind::kBool, "False"};
inline constexpr ParamDef kAcceptable{"acceptable_fraction", ParamKind::kFloat, "1"};
inline constexpr ParamDef kDctMethod{"dct_method", ParamKind::kString, "\"\""};

}  // namespace spillway::graph
