#include <cstring>

#include "spillway/graph/image_ops.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const DType out = c.attrs().get_or("output_type", DType::kInt32);
  if (out != DType::kInt32 && out != DType::kInt64) {
    return invalid_argument("output_type must be int32 or int64: ", name_of(out));
  }
  SW_RETURN_IF_ERROR(need_contents(c));
  c.set(0, out, Shape({3}));
  return {};
}

template <class T>
void fill(std::byte* to, const ImageInfo& info) {
  const T values[] = {static_cast<T>(info.height), static_cast<T>(info.width),
                      static_cast<T>(info.channels)};
  std::memcpy(to, values, sizeof(values));
}

Status compute(Compute& c) {
  const ImageBytes bytes = contents_of(c.inputs);
  Workspace workspace(c.account, c.ask);
  const ImageCodec* const codec = find_image_codec(bytes);
  if (codec == nullptr || codec->format != ImageFormat::kJpeg) {
    return bad_data(Code::kInvalidArgument, "Invalid JPEG data, size ", bytes.size());
  }
  SW_ASSIGN(const ImageInfo info, codec->read_info(bytes, workspace));
  const DType type = c.attrs.get_or("output_type", DType::kInt32);
  SW_ASSIGN(Tensor out, c.make(type, Shape({3})));
  (type == DType::kInt32 ? fill<std::int32_t> : fill<std::int64_t>)(out.mutable_data(), info);
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {kContents, {"output_type", ParamKind::kDType, "int32"}};

}  // namespace

extern constexpr OpDef extract_jpeg_shape_op{
    .name = "extract_jpeg_shape",
    .summary = "[height, width, channels] of a JPEG, from its header.",
    .params = kParams,
    .paths = "io.extract_jpeg_shape image.extract_jpeg_shape",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
