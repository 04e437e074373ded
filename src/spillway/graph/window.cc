#include "spillway/graph/window.h"

#include <algorithm>

#include "spillway/graph/gemm.h"
#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

// Strides, dilations and paddings up to here add up to sizes without wrapping; TensorFlow's bound.
constexpr std::int64_t kMostStep = INT32_MAX;

// Two positive integers.
Status check_pair(std::string_view what, const std::vector<std::int64_t>& pair) {
  if (pair.size() != 2) {
    return invalid_argument(what, " must be [down, across], got ", pair.size(), " numbers");
  }
  for (const std::int64_t n : pair) {
    if (n <= 0) return invalid_argument(what, " must be positive: ", n);
    if (n > kMostStep) return invalid_argument(what, " must be less than 2^31: ", n);
  }
  return {};
}

Status place(Window& w, std::int64_t length, std::string_view padding, std::int64_t before,
             std::int64_t after) {
  w.before = before;
  w.out = kUnknownDim;
  if (length == kUnknownDim) return {};
  if (padding == "SAME") w.out = (length + w.stride - 1) / w.stride;
  if (w.size == kUnknownDim) return {};
  const std::int64_t reach = (w.size - 1) * w.dilation + 1;
  if (padding == "SAME") {
    w.before = std::max<std::int64_t>(0, (w.out - 1) * w.stride + reach - length) / 2;
    return {};
  }
  const std::int64_t room = length + before + after;
  if (room < reach) {
    return wrong_shape("Computed output size would be negative: the window does not fit: ", reach,
                       " > ", room, " [input_size: ", length, ", effective_filter_size: ", reach,
                       ", stride: ", w.stride, "]");
  }
  w.out = (room - reach) / w.stride + 1;
  return {};
}

}  // namespace

Window::Taps Window::inside(std::int64_t at, std::int64_t length) const {
  const std::int64_t begin = at < 0 ? (-at + dilation - 1) / dilation : 0;
  const std::int64_t end = at < length ? (length - at + dilation - 1) / dilation : 0;
  return {std::min(begin, size), std::clamp(end, std::min(begin, size), size)};
}

Result<Windows> windows_of(const Attrs& attrs, const Shape& shape, std::int64_t height,
                           std::int64_t width) {
  using Ints = std::vector<std::int64_t>;
  const Ints strides = attrs.get_or("strides", Ints{1, 1});
  const Ints dilations = attrs.get_or("dilations", Ints{1, 1});
  const Ints paddings = attrs.get_or("paddings", Ints{0, 0, 0, 0});
  const std::string padding = attrs.get_or<std::string>("padding", "VALID");
  SW_RETURN_IF_ERROR(check_pair("strides", strides));
  SW_RETURN_IF_ERROR(check_pair("dilations", dilations));
  if (padding != "SAME" && padding != "VALID" && padding != "EXPLICIT") {
    return invalid_argument("padding must be \"SAME\", \"VALID\" or \"EXPLICIT\": ", padding);
  }
  if (paddings.size() != 4) {
    return invalid_argument("paddings must be [top, bottom, left, right], got ", paddings.size(),
                            " numbers");
  }
  for (const std::int64_t n : paddings) {
    if (n < 0) return invalid_argument("paddings must not be negative: ", n);
    if (n > kMostStep) return invalid_argument("paddings must be less than 2^31: ", n);
  }
  for (const std::int64_t n : {height, width}) {
    if (n == 0) return wrong_shape("the window must have items: ", height, " x ", width);
    if (n > kMostStep) return wrong_shape("the window must be less than 2^31 wide: ", n);
  }
  const bool explicitly = padding == "EXPLICIT";
  const bool ranked = shape.has_rank();
  Windows w{{height, strides[0], dilations[0], 0, 0}, {width, strides[1], dilations[1], 0, 0}};
  SW_RETURN_IF_ERROR(place(w.down, ranked ? shape[1] : kUnknownDim, padding,
                           explicitly ? paddings[0] : 0, explicitly ? paddings[1] : 0));
  SW_RETURN_IF_ERROR(place(w.across, ranked ? shape[2] : kUnknownDim, padding,
                           explicitly ? paddings[2] : 0, explicitly ? paddings[3] : 0));
  return w;
}

Status check_images(const Infer& c) {
  const Shape& shape = c.input(0).shape;
  if (shape.has_rank() && shape.rank() != 4) {
    return wrong_shape("input must be 4-dimensional [batch, height, width, channels]: ",
                       shape.bracketed());
  }
  return {};
}

Status check_convolved(const Infer& c) {
  for (int i = 0; i < 2; ++i) {
    const DType dtype = c.input(i).dtype;
    if (dtype == DType::kFloat32 || dtype == DType::kFloat64) continue;
    Status status = invalid_argument("is not defined for ", name_of(dtype),
                                     ", only for float32 and float64: cast to one of them");
    status.edit().type = "TypeError";
    return status;
  }
  return same_types(c);
}

Shares::Shares(std::int64_t of, double work)
    : units(of),
      parts(std::clamp<std::int64_t>(parts_worth(work), 1, std::max<std::int64_t>(1, of))) {}

}  // namespace spillway::graph
