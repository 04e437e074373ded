#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "spillway/graph/resize.h"

namespace spillway::graph {
namespace {

// A filter: its weight at a distance in pixels, zero beyond the radius.
struct Filter {
  std::string_view name;
  float radius;
  float (*weight)(float distance);
};

template <int radius>
float lanczos(float x) {
  constexpr float kPi = 3.14159265359F;
  constexpr auto kRadius = static_cast<float>(radius);
  if (x > kRadius) return 0;
  if (x <= 1e-3F) return 1;
  return kRadius * std::sin(kPi * x) * std::sin(kPi * x / kRadius) / (kPi * kPi * x * x);
}
float gaussian(float x) {
  constexpr double kSigma = 0.5;
  return x >= 1.5F ? 0 : static_cast<float>(std::exp(-x * x / (2.0 * kSigma * kSigma)));
}
float triangle(float x) { return x < 1 ? 1 - x : 0; }
float keys_cubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5F * x + 2.5F) * x - 4.0F) * x + 2.0F;
  return ((1.5F * x - 2.5F) * x) * x + 1.0F;
}
float mitchell_cubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return (((-7.0F / 18.0F) * x + 2.0F) * x - 10.0F / 3.0F) * x + 16.0F / 9.0F;
  return (((7.0F / 6.0F) * x - 2.0F) * x) * x + 8.0F / 9.0F;
}

constexpr Filter kFilters[] = {
    {"lanczos3", 3, lanczos<3>}, {"lanczos5", 5, lanczos<5>},  {"gaussian", 1.5, gaussian},
    {"triangle", 1, triangle},   {"keyscubic", 2, keys_cubic}, {"mitchellcubic", 2, mitchell_cubic},
};

Result<Filter> filter_of(const Attrs& attrs) {
  const std::string name = attrs.get_or<std::string>("filter", "");
  for (const Filter& filter : kFilters) {
    if (filter.name == name) return filter;
  }
  return invalid_argument("Unrecognized kernel type: ", name);
}

Status infer(Infer& c) {
  SW_ASSIGN([[maybe_unused]] const Filter filter, filter_of(c.attrs()));
  return infer_resize(c, DType::kFloat32);
}

// With antialias, a filter is as wide as a pixel of a smaller result. Pixels past the filter's end
// are there with weight zero as in TensorFlow: what they do to infinities is the same.
Taps filtered(const Filter& filter, bool antialias, std::int64_t size, std::int64_t new_size) {
  const float grown = static_cast<float>(new_size) / static_cast<float>(size);
  const auto scale = static_cast<float>(1.0 / static_cast<double>(grown));
  const float stretch = antialias ? std::max(scale, 1.0F) : 1.0F;
  const float reach = filter.radius * stretch;
  const std::int64_t most =
      std::min<std::int64_t>(2 * static_cast<std::int64_t>(std::ceil(reach)) + 1, size);
  const float shrink = 1 / stretch;
  Taps taps;
  std::vector<float> weights;
  for (std::int64_t i = 0; i < new_size; ++i, taps.end_place()) {
    const float center = (static_cast<float>(i) + 0.5F) * scale;
    if (center < 0 || center > static_cast<float>(size)) continue;
    const std::int64_t first = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::ceil(center - reach - 0.5F)), 0, size - 1);
    const std::int64_t last = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::floor(center + reach - 0.5F)), first, size - 1);
    weights.clear();
    float sum = 0;
    for (std::int64_t at = first; at <= last; ++at) {
      weights.push_back(filter.weight(std::abs((static_cast<float>(at) + 0.5F - center) * shrink)));
      sum += weights.back();
    }
    const bool shared = std::abs(sum) >= 1000 * std::numeric_limits<float>::min();
    const float share = shared ? 1 / sum : 0;
    weights.resize(static_cast<std::size_t>(std::max(most, last - first + 1)));
    const std::int64_t end = std::min(first + static_cast<std::int64_t>(weights.size()), size);
    for (std::int64_t at = first; at < end; ++at) {
      taps.add(at, at <= last ? weights[static_cast<std::size_t>(at - first)] * share : 0);
    }
  }
  return taps;
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Resizing size(p);
  SW_ASSIGN(const Filter filter, filter_of(p.attrs));
  const bool antialias = p.attrs.get_or("antialias", false);
  return resize_rows_first(size, p.inputs[0].dtype,
                           {filtered(filter, antialias, size.width, size.new_width), 0.0F},
                           {filtered(filter, antialias, size.height, size.new_height), 0.0F});
}

constexpr ParamDef kParams[] = {{"images", ParamKind::kTensor},
                                {"size", ParamKind::kTensor, "", 'i'},
                                {"filter", ParamKind::kString},
                                {"antialias", ParamKind::kBool, "False"}};

}  // namespace

extern constexpr OpDef resize_filtered_op{
    .name = "resize_filtered",
    .summary = "Images of another size, by a filter along each axis.",
    .params = kParams,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
