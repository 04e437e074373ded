#include "spillway/graph/pixels.h"

namespace spillway::graph {
namespace {

template <class T>
[[gnu::always_inline]] inline T within(T x) {
  return std::min(std::max(x, T(0)), T(1));
}

struct Op {
  template <class T>
  [[gnu::always_inline]] static void of(T hue, T saturation, T value, float /*scalar*/, T* out) {
    const T at = hue * T(6);
    const T rest = T(1) - saturation;
    out[0] = (rest + saturation * within(std::abs(at - T(3)) - T(1))) * value;
    out[1] = (rest + saturation * within(T(2) - std::abs(at - T(2)))) * value;
    out[2] = (rest + saturation * within(T(2) - std::abs(at - T(4)))) * value;
  }
};

}  // namespace

extern constexpr OpDef hsv_to_rgb_op{.name = "hsv_to_rgb",
                                     .summary = "Hue, saturation and value as red, green and blue.",
                                     .example =
                                         ">>> hsv_to_rgb([0.0, 0.5, 0.5])\n"
                                         "Tensor([0.5  0.25 0.25], shape=(3,), dtype=float32)",
                                     .params = kPixelParams,
                                     .paths = "image.hsv_to_rgb",
                                     .infer = infer_colors,
                                     .prepare = prepare_pixels<Op>};

}  // namespace spillway::graph
