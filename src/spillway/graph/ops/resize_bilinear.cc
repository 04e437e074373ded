#include <algorithm>
#include <cmath>

#include "spillway/graph/resize.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_resize(c, DType::kFloat32); }

Taps neighbours(std::int64_t size, std::int64_t new_size) {
  const float scale = resize_scale(size, new_size);
  Taps taps;
  for (std::int64_t i = 0; i < new_size; ++i) {
    const float at = pixel_center(i, scale);
    const float low = std::floor(at);
    taps.add(std::clamp<std::int64_t>(static_cast<std::int64_t>(low), 0, size - 1), 0);
    taps.add(std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(at)), 0, size - 1),
             at - low);
    taps.end_place();
  }
  return taps;
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Resizing size(p);
  const DType dtype = p.inputs[0].dtype;
  if (size.same_size()) return resize_to_same(size, dtype);
  return resize_columns_first(size, dtype, Blend::kLerp, {neighbours(size.width, size.new_width)},
                              {neighbours(size.height, size.new_height)});
}

}  // namespace

extern constexpr OpDef resize_bilinear_op{
    .name = "resize_bilinear",
    .summary = "Images of another size, between the four nearest pixels.",
    .params = kResizeParams,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
