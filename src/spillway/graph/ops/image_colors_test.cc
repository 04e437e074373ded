#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

// Four colours: blue-ish, orange, grey, green. Expected values are TensorFlow's.
const std::vector<double> kColors = {0.25, 0.5, 0.75, 1, 0.5, 0, 0.5, 0.5, 0.5, 0.25, 1, 0.5};
Tensor colors() { return f32({2, 2, 3}, kColors); }

TEST(ImageColorOps, HueSaturationAndValueOfColors) {
  check_op({.op = "rgb_to_hsv",
            .inputs = {colors()},
            .expect = {f32({2, 2, 3}, {0.5833333730697632, 0.6666666865348816, 0.75,  //
                                       0.0833333358168602, 1, 1, 0, 0, 0.5,           //
                                       0.3888888955116272, 0.75, 1})},
            .tolerance = 1e-6});
  check_op(
      {.op = "hsv_to_rgb",
       .inputs = {colors()},
       .expect = {f32({2, 2, 3}, {0.5625, 0.75, 0.375, 0, 0, 0, 0.25, 0.5, 0.5, 0.25, 0.5, 0})}});
  check_op({.op = "rgb_to_hsv",
            .inputs = {of(DType::kFloat16, {3}, {1, 0.5, 0.5})},
            .expect = {of(DType::kFloat16, {3}, {0, 0.5, 1})}});
}

TEST(ImageColorOps, GreenLooksBrightest) {
  check_op({.op = "rgb_to_grayscale",
            .inputs = {f32({4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})},
            .expect = {f32({4, 1}, {0.2989, 0.587, 0.114, 0})}});
  expect_refused("rgb_to_grayscale", {f32({2}, {1, 2})}, {}, "input must have 3 channels");
}

TEST(ImageColorOps, AHueIsTurned) {
  check_op({.op = "adjust_hue",
            .inputs = {colors(), f32({}, {0.25})},
            .expect = {f32({2, 2, 3}, {0.75, 0.25, 0.75, 0, 1, 0, 0.5, 0.5, 0.5, 0.25,
                                       0.3750000596046448, 1})}});
}

TEST(ImageColorOps, ASaturationIsScaled) {
  check_op({.op = "adjust_saturation",
            .inputs = {colors(), f32({}, {0.5})},
            .expect = {f32({2, 2, 3}, {0.5, 0.625, 0.75, 1, 0.75, 0.5, 0.5, 0.5, 0.5, 0.625, 1,
                                       0.7500000596046448})}});
}

TEST(ImageColorOps, ContrastIsTheDistanceFromTheMeanOfAChannel) {
  check_op({.op = "adjust_contrast",
            .inputs = {colors(), f32({}, {2})},
            .expect = {f32({2, 2, 3}, {0, 0.375, 1.0625, 1.5, 0.375, -0.4375, 0.5, 0.375, 0.5625, 0,
                                       1.375, 0.5625})}});
  // Images of a batch have means of their own; three pixels do not halve.
  check_op({.op = "adjust_contrast",
            .inputs = {f32({2, 1, 3, 1}, {1, 2, 6, 0, 3, 3}), f32({}, {0})},
            .expect = {f32({2, 1, 3, 1}, {3, 3, 3, 2, 2, 2})}});
}

TEST(ImageColorOps, RefuseWhatHasNotThreeChannels) {
  for (const char* op : {"adjust_hue", "adjust_saturation"}) {
    expect_refused(op, {f32({1, 1, 4}, {1, 2, 3, 4}), f32({}, {0})}, {},
                   "input must have 3 channels but instead has 4 channels.");
    expect_refused(op, {f32({3}, {1, 2, 3}), f32({}, {0})}, {}, "input must be at least 3-D");
  }
  expect_refused("adjust_hue", {colors(), f32({1}, {0})}, {}, "delta must be scalar: [1]");
  expect_refused("adjust_contrast", {f32({2}, {1, 2}), f32({}, {0})}, {},
                 "input must be at least 3-D");
}

}  // namespace
}  // namespace spillway::testing
