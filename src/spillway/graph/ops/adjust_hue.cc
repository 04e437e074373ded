#include "spillway/graph/pixels.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_adjusted(c, "delta"); }

// Turned in sixths of the circle: a colour's largest and smallest parts stay, the hue says which
// they are and how far between them the third lies.
struct Op {
  template <class T>
  [[gnu::always_inline]] static void of(T red, T green, T blue, float delta, T* out) {
    const T high = std::max(red, std::max(green, blue));
    const T low = std::min(red, std::min(green, blue));
    T hue = turned(sixths(red, green, blue, low, high), static_cast<T>(delta));
    const int sixth = static_cast<int>(hue);
    hue -= static_cast<T>(sixth);
    const T middle = low + (sixth % 2 == 0 ? hue : T(1) - hue) * (high - low);
    out[0] = sixth == 0 || sixth == 5 ? high : sixth == 1 || sixth == 4 ? middle : low;
    out[1] = sixth == 1 || sixth == 2 ? high : sixth == 0 || sixth == 3 ? middle : low;
    out[2] = sixth == 3 || sixth == 4 ? high : sixth == 2 || sixth == 5 ? middle : low;
  }
  template <class T>
  [[gnu::always_inline]] static T sixths(T red, T green, T blue, T low, T high) {
    if (high == low) return T(0);
    const bool rising = red < green;  // the order decides which of two equal parts counts
    const int sixth = rising ? (blue < red     ? 1
                                : blue > green ? 3
                                               : 2)
                             : (blue < green ? 0
                                : blue > red ? 4
                                             : 5);
    const T middle = sixth == 1 || sixth == 4 ? red : sixth == 0 || sixth == 3 ? green : blue;
    const T ratio = (middle - low) / (high - low);
    return static_cast<T>(sixth) + (sixth % 2 == 0 ? ratio : T(1) - ratio);
  }
  // Into [0, 6). What is no number, or far outside, is left at 0: no hue.
  template <class T>
  [[gnu::always_inline]] static T turned(T hue, T delta) {
    hue += delta * T(6);
    if (!(std::abs(hue) < T(1000))) return T(0);
    while (hue < T(0)) hue += T(6);
    while (hue >= T(6)) hue -= T(6);
    return hue;
  }
};

constexpr ParamDef kParams[] = {{"images", ParamKind::kTensor},
                                {"delta", ParamKind::kTensor, "", 'F'}};

}  // namespace

extern constexpr OpDef adjust_hue_op{.name = "adjust_hue",
                                     .summary = "The hue of every pixel, turned.",
                                     .params = kParams,
                                     .infer = infer,
                                     .prepare = prepare_pixels<Op>};

}  // namespace spillway::graph
