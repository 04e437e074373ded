#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "spillway/graph/resize.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_resize(c, DType::kFloat32); }

// Keys' cubic. Distances are rounded to steps of 1/1024, as TensorFlow's table has them.
constexpr float kSteps = 1024;
constexpr double kSharpness = -0.5;
float within_one(std::int64_t steps) {
  const auto x = static_cast<float>(static_cast<double>(steps) / kSteps);
  return static_cast<float>(((kSharpness + 2) * x - (kSharpness + 3)) * x * x + 1);
}
float within_two(std::int64_t steps) {
  auto x = static_cast<float>(static_cast<double>(steps) / kSteps);
  x += 1;
  return static_cast<float>(((kSharpness * x - 5 * kSharpness) * x + 8 * kSharpness) * x -
                            4 * kSharpness);
}

// Pixels outside of the image have no weight; those inside share it.
Taps neighbours(std::int64_t size, std::int64_t new_size) {
  const float scale = resize_scale(size, new_size);
  Taps taps;
  for (std::int64_t i = 0; i < new_size; ++i) {
    const float at = pixel_center(i, scale);
    const auto low = static_cast<std::int64_t>(std::floor(at));
    const std::int64_t steps = std::lrint((at - static_cast<float>(low)) * kSteps);
    const auto rest = static_cast<std::int64_t>(kSteps) - steps;
    std::array<float, 4> weights = {within_two(steps), within_one(steps), within_one(rest),
                                    within_two(rest)};
    float sum = 0;
    for (std::int64_t t = 0; t < 4; ++t) {
      const std::int64_t place = low - 1 + t;
      float& weight = weights[static_cast<std::size_t>(t)];
      if (place < 0 || place >= size) weight = 0;
      sum = t == 0 ? weight : sum + weight;
    }
    const bool shared = std::abs(sum) >= 1000 * std::numeric_limits<float>::min();
    const float share = shared ? 1 / sum : 1;
    for (std::int64_t t = 0; t < 4; ++t) {
      taps.add(std::clamp<std::int64_t>(low - 1 + t, 0, size - 1),
               weights[static_cast<std::size_t>(t)] * share);
    }
    taps.end_place();
  }
  return taps;
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Resizing size(p);
  return resize_rows_first(size, p.inputs[0].dtype, {neighbours(size.width, size.new_width)},
                           {neighbours(size.height, size.new_height)});
}

}  // namespace

extern constexpr OpDef resize_bicubic_op{
    .name = "resize_bicubic",
    .summary = "Images of another size, by a cubic through the sixteen nearest pixels.",
    .params = kResizeParams,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
