#include "spillway/graph/strings.h"
#include "spillway/io/images/encode.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const auto compression = c.attrs().get_or("compression", std::int64_t{-1});
  if (compression < -1 || compression > 9) {
    return invalid_argument("compression should be in [-1,9], got ", compression);
  }
  const auto& [dtype, shape] = c.input(0);
  if (dtype != DType::kUInt8 && dtype != DType::kUInt16) {
    return invalid_argument("Value for attr 'T' of ", name_of(dtype),
                            " is not in the list of allowed values: uint8, uint16");
  }
  if (!shape.has_rank()) {
    c.set(0, DType::kString, Shape::unknown_rank());
    return {};
  }
  if (shape.rank() < 3) {
    return invalid_argument("images must be at least rank 3", shape.bracketed());
  }
  const std::int64_t channels = shape[shape.rank() - 1];
  if (channels != kUnknownDim && (channels < 1 || channels > 4)) {
    return invalid_argument("image must have 1, 2, 3, or 4 channels, got ", channels);
  }
  c.set(0, DType::kString, Shape(shape.dims().first(static_cast<std::size_t>(shape.rank() - 3))));
  return {};
}

Status compute(Compute& c) {
  const Tensor& in = c.inputs[0];
  const Shape& shape = in.shape();
  const int batch = shape.rank() - 3;
  const Shape out_shape(shape.dims().first(static_cast<std::size_t>(batch)));
  const PixelExtent extent{1, shape[batch], shape[batch + 1], shape[batch + 2]};
  const bool wide = in.dtype() == DType::kUInt16;
  const auto compression = static_cast<int>(c.attrs.get_or("compression", std::int64_t{-1}));
  ByteSink sink(c.account, c.ask);
  std::vector<std::size_t> ends;
  for (std::int64_t i = 0; i < out_shape.count(); ++i) {
    Workspace workspace(c.account, c.ask);
    const std::byte* const pixels = in.data() + i * extent.items() * (wide ? 2 : 1);
    SW_RETURN_IF_ERROR(encode_png(pixels, extent, wide, compression, workspace, sink));
    ends.push_back(sink.bytes().size());
  }
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    items.push_back(text_of(sink.bytes()).substr(begin, end - begin));
    begin = end;
  }
  SW_ASSIGN(Tensor out, c.strings(out_shape, items));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"image", ParamKind::kTensor},
                                {"compression", ParamKind::kInt, "-1"}};

}  // namespace

extern constexpr OpDef encode_png_op{
    .name = "encode_png",
    .summary = "Images [..., height, width, 1 to 4] of uint8 or uint16 as PNGs.",
    .params = kParams,
    .paths = "io.encode_png image.encode_png",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
