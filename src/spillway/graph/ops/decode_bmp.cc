#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_image(c, DType::kUInt8); }

Status compute(Compute& c) {
  SW_ASSIGN(const int channels, channels_of(c.attrs));
  return decode_contents(c, {.options = {.channels = channels}, .takes = DecodeCall::Takes::kBmp});
}

constexpr ParamDef kParams[] = {kContents, kChannels};

}  // namespace

extern constexpr OpDef decode_bmp_op{
    .name = "decode_bmp",
    .summary = "The pixels of a BMP, [height, width, channels] of uint8.",
    .params = kParams,
    .paths = "io.decode_bmp image.decode_bmp",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
