#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (auto options = jpeg_options(c.attrs()); !options.ok()) return std::move(options).status();
  const Spec& window = c.input(1);
  if (window.dtype != DType::kInt32) {
    return invalid_argument("crop_window must be int32, got ", name_of(window.dtype));
  }
  if (window.shape.has_rank() && !window.shape.compatible(Shape({4}))) {
    return invalid_argument("crop_window must be 1-D with four elements, got shape ",
                            window.shape.bracketed());
  }
  SW_RETURN_IF_ERROR(infer_image(c, DType::kUInt8));
  const Tensor* const known = c.constant(1);
  if (known == nullptr || known->as<std::int32_t>()[2] < 0 || known->as<std::int32_t>()[3] < 0) {
    return {};
  }
  const std::int64_t channels = c.outputs()[0].shape[2];
  c.set(0, DType::kUInt8,
        Shape({known->as<std::int32_t>()[2], known->as<std::int32_t>()[3], channels}));
  return {};
}

Result<DecodeCall> call_of(const Attrs& attrs, std::span<const Tensor> inputs) {
  SW_ASSIGN(DecodeOptions options, jpeg_options(attrs));
  const auto* const window = inputs[1].as<std::int32_t>();
  options.crop = CropWindow{window[0], window[1], window[2], window[3]};
  return DecodeCall{.options = options, .takes = DecodeCall::Takes::kJpeg};
}

constexpr ParamDef kParams[] = {kContents,       {"crop_window", ParamKind::kTensor, "", 'i'},
                                kChannels,       kRatio,
                                kFancyUpscaling, kTryRecover,
                                kAcceptable,     kDctMethod};

}  // namespace

extern constexpr OpDef decode_and_crop_jpeg_op{
    .name = "decode_and_crop_jpeg",
    .summary = "A window [y, x, height, width] of a JPEG: the rest is not made.",
    .params = kParams,
    .paths = "io.decode_and_crop_jpeg image.decode_and_crop_jpeg",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = decode_with<call_of>};
extern constexpr DecodeOp kDecodeAndCropJpegCall{&decode_and_crop_jpeg_op, call_of};

}  // namespace spillway::graph
