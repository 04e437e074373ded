#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (auto options = jpeg_options(c.attrs()); !options.ok()) return std::move(options).status();
  return infer_image(c, DType::kUInt8);
}

Result<DecodeCall> call_of(const Attrs& attrs, std::span<const Tensor> /*inputs*/) {
  SW_ASSIGN(const DecodeOptions options, jpeg_options(attrs));
  return DecodeCall{.options = options};
}

constexpr ParamDef kParams[] = {kContents,   kChannels,   kRatio,    kFancyUpscaling,
                                kTryRecover, kAcceptable, kDctMethod};

}  // namespace

extern constexpr OpDef decode_jpeg_op{
    .name = "decode_jpeg",
    .summary =
        "The pixels of a JPEG, [height, width, channels] of uint8; of a PNG and a still "
        "GIF or WebP, too.",
    .params = kParams,
    .paths = "io.decode_jpeg image.decode_jpeg",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = decode_with<call_of>};
extern constexpr DecodeOp kDecodeJpegCall{&decode_jpeg_op, call_of};

}  // namespace spillway::graph
