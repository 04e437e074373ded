#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_image(c, DType::kUInt8); }

Result<DecodeCall> call_of(const Attrs& attrs, std::span<const Tensor> /*inputs*/) {
  SW_ASSIGN(const int channels, channels_of(attrs));
  return DecodeCall{.options = {.channels = channels}, .takes = DecodeCall::Takes::kBmp};
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
    .compute = decode_with<call_of>};
extern constexpr DecodeOp kDecodeBmpCall{&decode_bmp_op, call_of};

}  // namespace spillway::graph
