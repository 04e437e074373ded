#include <cmath>

#include "spillway/graph/depthwise.h"
#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

using DepthwiseInts = std::vector<std::int64_t>;

TEST(DepthwiseConv2dOp, KeepsChannelsApart) {
  const Tensor image = f32({1, 2, 2, 2}, {1, 10, 2, 20, 3, 30, 4, 40});
  check_op({.op = "depthwise_conv2d",
            .inputs = {image, f32({2, 2, 2, 1}, {1, 1, 1, 1, 1, 1, 1, 1})},
            .expect = {f32({1, 1, 1, 2}, {10, 100})}});
  check_op({.op = "depthwise_conv2d",
            .inputs = {image, f32({1, 2, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 4})},
            .expect = {f32({1, 2, 1, 4}, {3, 6, 90, 120, 7, 14, 210, 280})}});
  check_op({.op = "depthwise_conv2d",
            .inputs = {image, f32({2, 2, 2, 1}, {1, 1, 1, 1, 1, 1, 1, 1})},
            .attrs = {{"padding", "SAME"}, {"strides", DepthwiseInts{1, 2}}},
            .expect = {f32({1, 2, 1, 2}, {10, 100, 7, 70})}});
  check_op({.op = "depthwise_conv2d",
            .inputs = {f64({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                       f64({2, 2, 1, 1}, {1, 10, 100, 1000})},
            .attrs = {{"dilations", DepthwiseInts{2, 2}}},
            .expect = {f64({1, 1, 1, 1}, {9731})}});
}

TEST(DepthwiseConv2dOp, ManyImagesAreTheSameWhenShared) {
  check_op({.op = "depthwise_conv2d",
            .inputs = {f32({4, 48, 48, 60}, std::vector<double>(4 * 48 * 48 * 60, 1)),
                       f32({3, 3, 60, 1}, std::vector<double>(9 * 60, 2))},
            .expect = {f32({4, 46, 46, 60}, std::vector<double>(4 * 46 * 46 * 60, 18))}});
}

// Around the edges of vectors and of groups of pixels, on every level: sums in the kernel's order.
TEST(DepthwiseConv2dOp, GivesTheSameBitsOnEveryLevel) {
  using graph::Simd;
  for (const std::int64_t channels : {1, 3, 4, 7, 8, 9, 16, 19, 35}) {
    for (const std::int64_t multiplier : {1, 2}) {
      graph::DepthwiseShape s{1, 5, 9, channels, multiplier, {}};
      s.windows.down = {3, 1, 1, 1, 5};
      s.windows.across = {3, 1, 1, 1, 9};
      std::vector<float> image(static_cast<std::size_t>(45 * channels));
      std::vector<float> kernel(static_cast<std::size_t>(9 * channels * multiplier));
      for (std::size_t i = 0; i < image.size(); ++i) image[i] = std::sin(static_cast<float>(i));
      for (std::size_t i = 0; i < kernel.size(); ++i) kernel[i] = std::cos(static_cast<float>(i));
      std::vector<float> want(static_cast<std::size_t>(45 * channels * multiplier));
      for (std::int64_t i = 0; i < 45 * channels * multiplier; ++i) {
        const std::int64_t o = i % (channels * multiplier);
        const std::int64_t pixel = i / (channels * multiplier);
        for (std::int64_t k = 0; k < 9; ++k) {
          const std::int64_t y = pixel / 9 + k / 3 - 1;
          const std::int64_t x = pixel % 9 + k % 3 - 1;
          if (y < 0 || x < 0 || y >= 5 || x >= 9) continue;
          float& sum = want[static_cast<std::size_t>(i)];
          sum = std::fma(image[static_cast<std::size_t>((y * 9 + x) * channels + o / multiplier)],
                         kernel[static_cast<std::size_t>(k * channels * multiplier + o)], sum);
        }
      }
      for (const Simd level : {Simd::kBaseline, Simd::kAvx2, Simd::kAvx512}) {
        if (level > graph::simd_level()) continue;
        std::vector<float> got(want.size());
        graph::depthwise_rows<float>(s, level)({s, image.data(), kernel.data(), got.data(), 0, 5});
        EXPECT_EQ(got, want) << channels << " x " << multiplier << ", " << static_cast<int>(level);
      }
    }
  }
}

TEST(DepthwiseConv2dOp, RefusesOtherDepths) {
  expect_refused("depthwise_conv2d", {f32({1, 1, 1, 2}, {1, 1}), f32({1, 1, 3, 1}, {1, 1, 1})}, {},
                 "input and filter must have the same depth: 2 vs 3");
  expect_refused("depthwise_conv2d",
                 {of(DType::kFloat16, {1, 1, 1, 1}, {1}), f32({1, 1, 1, 1}, {})}, {},
                 "is not defined for float16");
}

}  // namespace
}  // namespace spillway::testing
