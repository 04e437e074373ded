#include "spillway/graph/pixels.h"

namespace spillway::graph {
namespace {

struct Op {
  template <class T>
  [[gnu::always_inline]] static void of(T red, T green, T blue, float /*scalar*/, T* out) {
    to_hsv(red, green, blue, out);
  }
};

}  // namespace

extern constexpr OpDef rgb_to_hsv_op{.name = "rgb_to_hsv",
                                     .summary = "Red, green and blue as hue, saturation and value.",
                                     .example =
                                         ">>> rgb_to_hsv([0.5, 0.25, 0.25])\n"
                                         "Tensor([0.  0.5 0.5], shape=(3,), dtype=float32)",
                                     .params = kPixelParams,
                                     .paths = "image.rgb_to_hsv",
                                     .infer = infer_colors,
                                     .prepare = prepare_pixels<Op>};

}  // namespace spillway::graph
