#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

// Whether it is an animation is in the bytes: the rank is not known, unless only the first frame
// is taken.
Status infer(Infer& c) {
  const DType dtype = c.attrs().get_or("dtype", DType::kUInt8);
  if (dtype != DType::kUInt8 && dtype != DType::kUInt16 && dtype != DType::kFloat32) {
    return invalid_argument("`dtype` for decode_image must be uint8, uint16 or float32: ",
                            name_of(dtype));
  }
  SW_RETURN_IF_ERROR(infer_image(c, dtype));
  if (c.attrs().get_or("expand_animations", true)) c.set(0, dtype, Shape::unknown_rank());
  return {};
}

Result<DecodeCall> call_of(const Attrs& attrs, std::span<const Tensor> /*inputs*/) {
  SW_ASSIGN(const int channels, channels_of(attrs));
  const bool expands = attrs.get_or("expand_animations", true);
  return DecodeCall{.options = {.channels = channels},
                    .dtype = attrs.get_or("dtype", DType::kUInt8),
                    .frames = expands ? DecodeCall::Frames::kAsMade : DecodeCall::Frames::kFirst,
                    .takes = DecodeCall::Takes::kAll};
}

constexpr ParamDef kParams[] = {kContents,
                                kChannels,
                                {"dtype", ParamKind::kDType, "uint8"},
                                {"expand_animations", ParamKind::kBool, "True"}};

}  // namespace

extern constexpr OpDef decode_image_op{.name = "decode_image",
                                       .summary = "The pixels of a JPEG, PNG, GIF, BMP or WebP.",
                                       .params = kParams,
                                       .effect = Effect::kFallible,
                                       .infer = infer,
                                       .compute = decode_with<call_of>};
extern constexpr DecodeOp kDecodeImageCall{&decode_image_op, call_of};

}  // namespace spillway::graph
