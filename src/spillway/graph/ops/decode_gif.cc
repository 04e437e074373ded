#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_contents(c));
  c.set(0, DType::kUInt8, Shape({kUnknownDim, kUnknownDim, kUnknownDim, 3}));
  return {};
}

Status compute(Compute& c) {
  return decode_contents(c, {.options = {.channels = 3}, .frames = DecodeCall::Frames::kAll});
}

constexpr ParamDef kParams[] = {kContents};

}  // namespace

extern constexpr OpDef decode_gif_op{
    .name = "decode_gif",
    .summary = "The frames of a GIF, [frames, height, width, 3] of uint8; one of a JPEG or PNG.",
    .params = kParams,
    .paths = "io.decode_gif image.decode_gif",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
