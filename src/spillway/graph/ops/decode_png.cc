#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const DType dtype = c.attrs().get_or("dtype", DType::kUInt8);
  if (dtype != DType::kUInt8 && dtype != DType::kUInt16) {
    return invalid_argument("`dtype` for decode_png must be uint8 or uint16: ", name_of(dtype));
  }
  return infer_image(c, dtype);
}

Result<DecodeCall> call_of(const Attrs& attrs, std::span<const Tensor> /*inputs*/) {
  SW_ASSIGN(const int channels, channels_of(attrs));
  return DecodeCall{.options = {.channels = channels},
                    .dtype = attrs.get_or("dtype", DType::kUInt8)};
}

constexpr ParamDef kParams[] = {kContents, kChannels, {"dtype", ParamKind::kDType, "uint8"}};

}  // namespace

extern constexpr OpDef decode_png_op{
    .name = "decode_png",
    .summary =
        "The pixels of a PNG, [height, width, channels] of uint8 or uint16; of a JPEG and "
        "a still GIF or WebP, too.",
    .params = kParams,
    .paths = "io.decode_png image.decode_png",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = decode_with<call_of>};
extern constexpr DecodeOp kDecodePngCall{&decode_png_op, call_of};

}  // namespace spillway::graph
