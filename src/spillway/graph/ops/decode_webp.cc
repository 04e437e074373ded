#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const DType dtype = c.attrs().get_or("dtype", DType::kUInt8);
  if (dtype != DType::kUInt8) {
    return invalid_argument("`dtype` for decode_webp must be uint8: ", name_of(dtype));
  }
  return infer_image(c, dtype, /*frames=*/true);
}

Status compute(Compute& c) {
  SW_ASSIGN(const int channels, channels_of(c.attrs));
  return decode_contents(c, {.options = {.channels = channels},
                             .frames = DecodeCall::Frames::kAll,
                             .takes = DecodeCall::Takes::kWebp});
}

constexpr ParamDef kParams[] = {kContents, kChannels, {"dtype", ParamKind::kDType, "uint8"}};

}  // namespace

extern constexpr OpDef decode_webp_op{
    .name = "decode_webp",
    .summary = "The frames of a WebP, [frames, height, width, channels] of uint8.",
    .params = kParams,
    .paths = "io.decode_webp image.decode_webp",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
