#include "spillway/graph/op.h"
#include "spillway/io/images/encode.h"

namespace spillway::graph {
namespace {

// 0: as the image has them.
Result<std::int64_t> wanted_channels(const Attrs& attrs) {
  const std::string format = attrs.get_or("format", std::string());
  if (format.empty()) return std::int64_t{0};
  if (format == "grayscale") return std::int64_t{1};
  if (format == "rgb") return std::int64_t{3};
  return invalid_argument("format must be '', grayscale or rgb, got ", format);
}

Result<JpegEncodeOptions> options_of(const Attrs& attrs) {
  JpegEncodeOptions out;
  const auto quality = attrs.get_or("quality", std::int64_t{95});
  if (quality < 0 || quality > 100) {
    return invalid_argument("quality must be in [0,100], got ", quality);
  }
  out.quality = static_cast<int>(quality);
  out.progressive = attrs.get_or("progressive", false);
  out.optimize_size = attrs.get_or("optimize_size", false);
  out.chroma_downsampling = attrs.get_or("chroma_downsampling", true);
  const std::string unit = attrs.get_or("density_unit", std::string("in"));
  if (unit != "in" && unit != "cm") {
    return invalid_argument("density_unit must be 'in' or 'cm': ", unit);
  }
  out.density_in_cm = unit == "cm";
  for (const std::string_view name : {"x_density", "y_density"}) {
    const auto density = attrs.get_or(name, std::int64_t{300});
    if (density >= 0 && density <= 65535) continue;
    return invalid_argument(name, " must lie between 0 and 65535: ", density);
  }
  out.x_density = static_cast<int>(attrs.get_or("x_density", std::int64_t{300}));
  out.y_density = static_cast<int>(attrs.get_or("y_density", std::int64_t{300}));
  if (const auto* text = attrs.get<std::string>("xmp_metadata")) out.xmp_metadata = *text;
  return out;
}

Status infer(Infer& c) {
  if (auto options = options_of(c.attrs()); !options.ok()) return std::move(options).status();
  SW_ASSIGN(const std::int64_t wanted, wanted_channels(c.attrs()));
  const Spec& image = c.input(0);
  if (image.dtype != DType::kUInt8) {
    return invalid_argument("image must be uint8, got ", name_of(image.dtype));
  }
  c.set(0, DType::kString, Shape());
  if (!image.shape.has_rank()) return {};
  if (image.shape.rank() != 3) {
    return invalid_argument("image must be 3-dimensional", image.shape.bracketed());
  }
  const std::int64_t channels = image.shape[2];
  if (channels == kUnknownDim) return {};
  if (wanted == 0 ? channels != 1 && channels != 3 : channels != wanted) {
    return invalid_argument("image must have ", wanted == 0 ? "1 or 3" : std::to_string(wanted),
                            " channels, got ", image.shape.bracketed());
  }
  return {};
}

Status compute(Compute& c) {
  SW_ASSIGN(const JpegEncodeOptions options, options_of(c.attrs));
  const Tensor& image = c.inputs[0];
  const Shape& shape = image.shape();
  Workspace workspace(c.account, c.ask);
  ByteSink sink(c.account, c.ask);
  SW_RETURN_IF_ERROR(
      encode_jpeg(image.data(), {1, shape[0], shape[1], shape[2]}, options, workspace, sink));
  const std::string_view text = text_of(sink.bytes());
  SW_ASSIGN(Tensor out, c.strings(Shape(), {&text, 1}));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"image", ParamKind::kTensor},
                                {"format", ParamKind::kString, "\"\""},
                                {"quality", ParamKind::kInt, "95"},
                                {"progressive", ParamKind::kBool, "False"},
                                {"optimize_size", ParamKind::kBool, "False"},
                                {"chroma_downsampling", ParamKind::kBool, "True"},
                                {"density_unit", ParamKind::kString, "\"in\""},
                                {"x_density", ParamKind::kInt, "300"},
                                {"y_density", ParamKind::kInt, "300"},
                                {"xmp_metadata", ParamKind::kString, "\"\""}};

}  // namespace

extern constexpr OpDef encode_jpeg_op{
    .name = "encode_jpeg",
    .summary = "An image [height, width, 1 or 3] of uint8 as a JPEG.",
    .params = kParams,
    .paths = "io.encode_jpeg image.encode_jpeg",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
