#include <algorithm>
#include <cmath>

#include "spillway/graph/resize.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_resize(c, DType::kFloat32); }

// Every pixel of the image that lies under one of the result, by how much of it does.
Taps covered(std::int64_t size, std::int64_t new_size) {
  const float scale = resize_scale(size, new_size);
  Taps taps;
  for (std::int64_t i = 0; i < new_size; ++i) {
    const float begin = static_cast<float>(i) * scale;
    const float end = static_cast<float>(i + 1) * scale;
    const auto first = static_cast<std::int64_t>(std::floor(begin));
    const std::int64_t past = std::max(static_cast<std::int64_t>(std::ceil(end)), first + 1);
    for (std::int64_t at = first; at < past; ++at) {
      const auto low = static_cast<float>(at);
      const auto high = static_cast<float>(at + 1);
      const float inside =
          low < begin ? (high > end ? scale : high - begin) : (high > end ? end - low : 1);
      taps.add(std::clamp<std::int64_t>(at, 0, size - 1), inside);
    }
    taps.end_place();
  }
  return taps;
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Resizing size(p);
  const float scale = static_cast<float>(1.0 / (resize_scale(size.height, size.new_height) *
                                                resize_scale(size.width, size.new_width)));
  return resize_columns_first(size, p.inputs[0].dtype, Blend::kSum,
                              {covered(size.width, size.new_width)},
                              {covered(size.height, size.new_height), 0.0F}, scale);
}

}  // namespace

extern constexpr OpDef resize_area_op{
    .name = "resize_area",
    .summary = "Images of another size, each pixel the mean of what it covers.",
    .params = kResizeParams,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
