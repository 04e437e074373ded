#include <cmath>
#include <limits>

#include "spillway/base/random.h"
#include "spillway/graph/moves.h"
#include "spillway/graph/random_source.h"

namespace spillway::graph {
namespace {

using Sizes = Types<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;

struct Rectangle {
  int x = 0;
  int y = 0;
  int right = 0;
  int bottom = 0;
  float area() const { return static_cast<float>((right - x) * (bottom - y)); }
  Rectangle within(const Rectangle& other) const {
    const Rectangle both{std::max(x, other.x), std::max(y, other.y), std::min(right, other.right),
                         std::min(bottom, other.bottom)};
    return both.right <= both.x || both.bottom <= both.y ? Rectangle() : both;
  }
};

// What is drawn, in TensorFlow's order.
class Draws {
 public:
  explicit Draws(const RandomSource& source) : stream_(source.seed, source.seed2) {}
  float unit() { return unit_float(stream_.next()); }
  // Below n, each as likely.
  int below(int n) {
    const auto range = static_cast<std::uint32_t>(n);
    if ((range & (range - 1)) == 0) return static_cast<int>(stream_.next() & (range - 1));
    const std::uint32_t uneven = std::numeric_limits<std::uint32_t>::max() % range + 1;
    std::uint32_t drawn = 0;
    do {
      drawn = stream_.next();
    } while (drawn < uneven);
    return static_cast<int>(drawn % range);
  }

 private:
  PhiloxStream stream_;
};

struct Range {
  float low = 0;
  float high = 1;
};

int rounded(float x) { return static_cast<int>(std::lrint(x)); }

// A part of the image with these proportions and an area of its own in the range; nullopt: none.
std::optional<Rectangle> random_crop(int width, int height, const Range& area, float proportion,
                                     Draws& draws) {
  if (area.high <= 0 || proportion <= 0 || width <= 0 || height <= 0 || area.low > area.high) {
    return std::nullopt;
  }
  const float least = area.low * static_cast<float>(width) * static_cast<float>(height);
  const float most = area.high * static_cast<float>(width) * static_cast<float>(height);
  const auto wide = [&](int high) { return rounded(static_cast<float>(high) * proportion); };
  int high = rounded(std::sqrt(least / proportion));
  int highest = rounded(std::sqrt(most / proportion));
  if (wide(highest) > width) {
    constexpr float kLittle = 0.0000001F;
    highest = static_cast<int>((static_cast<float>(width) + 0.5F - kLittle) / proportion);
    if (wide(highest) > width) --highest;
  }
  highest = std::min(highest, height);
  high = std::min(high, highest);
  if (high < highest) high += draws.below(highest - high + 1);
  // Rounding may have left the range by a little.
  if (static_cast<float>(wide(high) * high) < least) ++high;
  if (static_cast<float>(wide(high) * high) > most) --high;
  const float made = static_cast<float>(wide(high) * high);
  if (made < least || made > most || wide(high) > width || high > height || wide(high) <= 0 ||
      high <= 0) {
    return std::nullopt;
  }
  const int y = high < height ? draws.below(height - high) : 0;
  const int x = wide(high) < width ? draws.below(width - wide(high)) : 0;
  return Rectangle{x, y, x + wide(high), y + high};
}

bool covers_one(const Rectangle& crop, std::span<const Rectangle> boxes, float least) {
  if (crop.area() < 1) return false;
  return std::ranges::any_of(boxes, [&](const Rectangle& box) {
    return box.area() >= 1 && crop.within(box).area() / box.area() >= least;
  });
}

Status need_sizes(const Infer& c) {
  if (!is_one_of(Sizes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const Shape& size = c.input(0).shape;
  if (size.has_rank() && size.rank() != 1) {
    return invalid_argument("image_size must be 1-dimensional", size.bracketed());
  }
  if (!size.compatible(Shape({3}))) {
    return invalid_argument("image_size must contain 3 elements", size.bracketed());
  }
  return {};
}

Range range_of(const Attrs& attrs, std::string_view low, std::string_view high) {
  const Range range{static_cast<float>(attrs.get_or(low, 0.0)),
                    static_cast<float>(attrs.get_or(high, 1.0))};
  return range;
}

Status need_positive(const Range& range, std::string_view what) {
  if (range.low > 0 && range.high > 0) return {};
  return invalid_argument(what, " must be non-negative: [", range.low, ", ", range.high, "]");
}

Status check_attributes(const Attrs& attrs) {
  SW_RETURN_IF_ERROR(
      need_positive(range_of(attrs, "least_ratio", "most_ratio"), "Aspect ratio range"));
  const Range area = range_of(attrs, "least_area", "most_area");
  SW_RETURN_IF_ERROR(need_positive(area, "Area range"));
  if (area.low > 1 || area.high > 1) {
    return invalid_argument("Area range must be less then or equal to 1.0: [", area.low, ", ",
                            area.high, "]");
  }
  const auto attempts = attrs.get_or("max_attempts", std::int64_t{100});
  if (attempts > 0) return {};
  return invalid_argument("Max attempts must be non-negative: ", attempts);
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(check_attributes(c.attrs()));
  SW_RETURN_IF_ERROR(need_sizes(c));
  const Spec& boxes = c.input(1);
  if (boxes.dtype != DType::kFloat32) return no_kernel(boxes.dtype);
  if (boxes.shape.has_rank() && boxes.shape.rank() != 3) {
    return invalid_argument("input boxes must be 3-dimensional [batch, num_boxes, coords]: ",
                            boxes.shape.bracketed());
  }
  if (boxes.shape.has_rank() && boxes.shape[2] >= 0 && boxes.shape[2] != 4) {
    return invalid_argument("bounding boxes must have shape [4] but got ", boxes.shape.bracketed());
  }
  if (c.input(2).dtype != DType::kFloat32 || !c.input(2).shape.compatible(Shape())) {
    return invalid_argument("min_object_covered must be 0-D, got shape ",
                            c.input(2).shape.bracketed());
  }
  SW_RETURN_IF_ERROR(check_seed(c, 3));
  c.set(0, c.input(0).dtype, Shape({3}));
  c.set(1, c.input(0).dtype, Shape({3}));
  c.set(2, DType::kFloat32, Shape({1, 1, 4}));
  return {};
}

Result<std::vector<Rectangle>> boxes_of(const Tensor& boxes, int width, int height,
                                        bool image_if_none) {
  std::vector<Rectangle> out;
  const auto* at = boxes.as<float>();
  for (std::int64_t b = 0; b < boxes.count() / 4; ++b, at += 4) {
    for (int i = 0; i < 4; ++i) {
      if (!(at[i] >= 0 && at[i] <= 1)) {
        return bad_data(Code::kInvalidArgument,
                        "All bounding box coordinates must be in [0.0, 1.0]: ", at[i]);
      }
    }
    const auto across = [&](float x) { return static_cast<int>(x * static_cast<float>(width)); };
    const auto down = [&](float y) { return static_cast<int>(y * static_cast<float>(height)); };
    out.push_back({across(at[1]), down(at[0]), across(at[3]), down(at[2])});
  }
  if (out.empty()) {
    if (!image_if_none) {
      return bad_data(Code::kInvalidArgument,
                      "No bounding boxes provided as input. One must enable "
                      "use_image_if_no_bounding_boxes if you wish to not provide any bounding "
                      "boxes.");
    }
    out.push_back({0, 0, width, height});
  }
  return out;
}

Status compute(Compute& c) {
  const Tensor& sizes = c.inputs[0];
  const std::vector<std::int64_t> whole = integers_of(sizes);
  for (int i = 0; i < 2; ++i) {
    if (whole[static_cast<std::size_t>(i)] < 0 ||
        whole[static_cast<std::size_t>(i)] >= std::numeric_limits<std::int32_t>::max()) {
      return bad_data(Code::kInvalidArgument, i == 0 ? "image height" : "image width",
                      " cannot be >= int32 max: ", whole[static_cast<std::size_t>(i)]);
    }
  }
  const auto height = static_cast<int>(whole[0]);
  const auto width = static_cast<int>(whole[1]);
  const float covered = *c.inputs[2].as<float>();
  if (covered < 0) {
    return bad_data(Code::kInvalidArgument, "Min object covered must be non-negative: ", covered);
  }
  SW_ASSIGN(const std::vector<Rectangle> boxes,
            boxes_of(c.inputs[1], width, height,
                     c.attrs.get_or("use_image_if_no_bounding_boxes", false)));
  const Range proportion = range_of(c.attrs, "least_ratio", "most_ratio");
  const Range area = range_of(c.attrs, "least_area", "most_area");
  Draws draws(source_of(c.inputs[3].data(), c.inputs[3].dtype(), Shape()));
  Rectangle chosen{0, 0, width, height};
  const auto attempts = c.attrs.get_or("max_attempts", std::int64_t{100});
  for (std::int64_t i = 0; i < attempts; ++i) {
    const float ratio = draws.unit() * (proportion.high - proportion.low) + proportion.low;
    const auto crop = random_crop(width, height, area, ratio, draws);
    if (!crop || !covers_one(*crop, boxes, covered)) continue;
    chosen = *crop;
    break;
  }
  SW_ASSIGN(Tensor begin, c.make(sizes.dtype(), Shape({3})));
  SW_ASSIGN(Tensor size, c.make(sizes.dtype(), Shape({3})));
  SW_ASSIGN(Tensor box, c.make(DType::kFloat32, Shape({1, 1, 4})));
  const std::int64_t begins[] = {chosen.y, chosen.x, 0};
  const std::int64_t lengths[] = {chosen.bottom - chosen.y, chosen.right - chosen.x, -1};
  for (int i = 0; i < 3; ++i) {
    put_integer(sizes.dtype(), begin.mutable_data(), i, begins[i]);
    put_integer(sizes.dtype(), size.mutable_data(), i, lengths[i]);
  }
  auto* const sides = reinterpret_cast<float*>(box.mutable_data());
  sides[0] = static_cast<float>(chosen.y) / static_cast<float>(height);
  sides[1] = static_cast<float>(chosen.x) / static_cast<float>(width);
  sides[2] = static_cast<float>(chosen.bottom) / static_cast<float>(height);
  sides[3] = static_cast<float>(chosen.right) / static_cast<float>(width);
  c.outputs = {std::move(begin), std::move(size), std::move(box)};
  return {};
}

constexpr ParamDef kParams[] = {{"image_size", ParamKind::kTensor, "", 'I'},
                                {"bounding_boxes", ParamKind::kTensor, "", 'B'},
                                {"min_object_covered", ParamKind::kTensor, "", 'C'},
                                {"seed", ParamKind::kTensor, "", 'n'},
                                {"least_ratio", ParamKind::kFloat},
                                {"most_ratio", ParamKind::kFloat},
                                {"least_area", ParamKind::kFloat},
                                {"most_area", ParamKind::kFloat},
                                {"max_attempts", ParamKind::kInt},
                                {"use_image_if_no_bounding_boxes", ParamKind::kBool}};

}  // namespace

extern constexpr OpDef stateless_sample_distorted_bounding_box_op{
    .name = "stateless_sample_distorted_bounding_box",
    .summary = "A random part of an image that covers enough of some box in it.",
    .params = kParams,
    .outputs = 3,
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
