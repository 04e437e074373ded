#include "spillway/graph/pixels.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_adjusted(c, "scale"); }

struct Op {
  template <class T>
  [[gnu::always_inline]] static void of(T red, T green, T blue, float scale, T* out) {
    const T value = std::max(red, std::max(green, blue));
    const T range = value - std::min(red, std::min(green, blue));
    T saturation = value > T(0) ? range / value : T(0);
    const T hue = hue_of(red, green, blue, value, range) * T(6);
    saturation = std::min(T(1), std::max(T(0), saturation * static_cast<T>(scale)));
    const T chroma = saturation * value;
    const T base = value - chroma;
    // A hue that is no number, or outside of the circle, has no colour.
    const int sixth = hue > T(-1) && hue < T(6) ? static_cast<int>(hue) : 6;
    T along = hue;
    if (sixth < 6) {
      while (along <= T(0)) along += T(2);
      while (along >= T(2)) along -= T(2);
    }
    const T second = chroma * (T(1) - std::abs(along - T(1)));
    const auto part = [&](int full, int other, int half, int half_too) {
      return base + (sixth == full || sixth == other      ? chroma
                     : sixth == half || sixth == half_too ? second
                                                          : T(0));
    };
    out[0] = part(0, 5, 1, 4);
    out[1] = part(1, 2, 0, 3);
    out[2] = part(3, 4, 2, 5);
  }
  // Of a full turn. TensorFlow divides once here, unlike in rgb_to_hsv, and adds in double.
  template <class T>
  [[gnu::always_inline]] static T hue_of(T red, T green, T blue, T value, T range) {
    if (range <= T(0)) return T(0);
    const T norm = T(1) / (T(6) * range);
    const T hue = red == value ? norm * (green - blue)
                  : green == value
                      ? static_cast<T>(static_cast<double>(norm * (blue - red)) + 2.0 / 6.0)
                      : static_cast<T>(static_cast<double>(norm * (red - green)) + 4.0 / 6.0);
    return hue < T(0) ? hue + T(1) : hue;
  }
};

constexpr ParamDef kParams[] = {{"images", ParamKind::kTensor},
                                {"scale", ParamKind::kTensor, "", 'F'}};

}  // namespace

extern constexpr OpDef adjust_saturation_op{.name = "adjust_saturation",
                                            .summary = "The saturation of every pixel, scaled.",
                                            .params = kParams,
                                            .infer = infer,
                                            .prepare = prepare_pixels<Op>};

}  // namespace spillway::graph
