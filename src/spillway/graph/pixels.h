#pragma once

#include <algorithm>
#include <cmath>

#include "spillway/graph/moves.h"

// What the ops on pixels of three channels share: red, green and blue, or hue, saturation, value,
// along the last axis. Each pixel is made from one pixel, and an optional float32 scalar.
namespace spillway::graph {

// The last axis has three items, and there are at least `rank` axes.
inline Status check_pixels(const Infer& c, int rank) {
  if (!is_one_of(FloatTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const Shape& shape = c.input(0).shape;
  if (!shape.has_rank()) return {};
  if (shape.rank() < rank) {
    return wrong_shape("input must be at least ", rank, "-D, got shape ", shape.bracketed());
  }
  const std::int64_t channels = shape[shape.rank() - 1];
  if (channels == kUnknownDim || channels == 3) return {};
  return wrong_shape("input must have 3 channels but instead has ", channels, " channels.");
}

// Colours in another system: other than three channels are a failed precondition of TensorFlow's.
inline Status infer_colors(Infer& c) {
  Status status = check_pixels(c, 1);
  if (!status.ok()) {
    const bool channels = c.input(0).shape.rank() > 0 && status.info().type == "ShapeError";
    if (channels) status.edit().code = Code::kFailedPrecondition;
    return status;
  }
  std::vector<std::int64_t> dims = dims_of(c.input(0).shape);
  if (!dims.empty()) dims.back() = 3;
  c.set(0, c.input(0).dtype, dims.empty() ? c.input(0).shape : shape_of(dims));
  return {};
}

// Images whose pixels are changed by a scalar that is called `name`.
inline Status infer_adjusted(Infer& c, std::string_view name) {
  SW_RETURN_IF_ERROR(check_pixels(c, 3));
  if (c.input(1).dtype != DType::kFloat32) return no_kernel(c.input(1).dtype);
  if (c.input(1).shape.rank() > 0) {
    return wrong_shape(name, " must be scalar: ", c.input(1).shape.bracketed());
  }
  c.set(0, c.input(0).dtype, c.input(0).shape);
  return {};
}

// Op::of(a, b, c, scalar, out) writes three of them.
template <class Op, class T>
struct PixelBody {
  [[gnu::always_inline]] static std::int64_t run(const LoopArgs& args) {
    const auto* __restrict in = reinterpret_cast<const T*>(args.in[0]);
    auto* __restrict out = reinterpret_cast<T*>(args.out);
    const float scalar = *static_cast<const float*>(args.data);
    for (std::int64_t i = 0; i < args.n; ++i, in += 3, out += 3) {
      Wide<T> made[3];
      Op::template of<Wide<T>>(widen(in[0]), widen(in[1]), widen(in[2]), scalar, made);
      for (int k = 0; k < 3; ++k) out[k] = static_cast<T>(made[k]);
    }
    return -1;
  }
};

template <class Op>
Result<KernelPtr> prepare_pixels(const Prepare& p) {
  LoopFn fn = nullptr;
  with_type(FloatTypes(), p.inputs[0].dtype,
            [&]<class T>() { fn = SimdLoop<PixelBody<Op, T>>::best(); });
  const std::size_t pixel = 3 * size_of(p.inputs[0].dtype);
  const std::int64_t pixels = p.inputs[0].shape.count() / 3;
  const bool scaled = p.inputs.size() > 1;
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    const float none = 0;
    const void* scalar = scaled ? static_cast<const void*>(in[1]) : &none;
    loop_in_stretches(fn, in[0], pixel, out[0], pixel, pixels, scalar);
    return Status();
  });
}

// Hue, saturation and value, each in [0, 1] for colours in [0, 1].
template <class T>
[[gnu::always_inline]] inline void to_hsv(T red, T green, T blue, T* out) {
  const T value = std::max(red, std::max(green, blue));
  const T range = value - std::min(red, std::min(green, blue));
  const T norm = (T(1) / range) * (T(1) / T(6));
  T hue = red == value     ? norm * (green - blue)
          : green == value ? norm * (blue - red) + T(2) / T(6)
                           : norm * (red - green) + T(4) / T(6);
  hue = range > T(0) ? hue : T(0);
  out[0] = hue < T(0) ? hue + T(1) : hue;
  out[1] = value > T(0) ? range / value : T(0);
  out[2] = value;
}

inline constexpr ParamDef kPixelParams[] = {{"images", ParamKind::kTensor}};

}  // namespace spillway::graph
