#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (auto options = jpeg_options(c.attrs()); !options.ok()) return std::move(options).status();
  return infer_image(c, DType::kUInt8);
}

Status compute(Compute& c) {
  SW_ASSIGN(const DecodeOptions options, jpeg_options(c.attrs));
  return decode_contents(c, {.options = options});
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
    .compute = compute};

}  // namespace spillway::graph
