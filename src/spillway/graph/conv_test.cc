#include "spillway/graph/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace spillway::testing {
namespace {

using graph::Conv;
using graph::ConvShape;
using graph::Simd;

struct Sizes {
  std::int64_t batch;
  std::int64_t side;
  std::int64_t channels;
  std::int64_t kernel;
  std::int64_t outputs;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t padding = 0;
  std::int64_t groups = 1;
};

ConvShape conv_of(const Sizes& z) {
  ConvShape s;
  s.batch = z.batch;
  s.height = z.side;
  s.width = z.side + 1;
  s.channels = z.channels;
  s.kernel_height = s.kernel_width = z.kernel;
  s.out_channels = z.outputs;
  s.stride_down = s.stride_across = z.stride;
  s.dilation_down = s.dilation_across = z.dilation;
  s.top = s.left = z.padding;
  s.groups = z.groups;
  const std::int64_t reach = (z.kernel - 1) * z.dilation + 1;
  s.out_height = (s.height + 2 * z.padding - reach) / z.stride + 1;
  s.out_width = (s.width + 2 * z.padding - reach) / z.stride + 1;
  return s;
}

// Numbers whose sums round, so that another order gives other bits.
template <class T>
std::vector<T> random_items(std::int64_t n, std::uint32_t seed) {
  std::vector<T> out(static_cast<std::size_t>(n));
  for (T& item : out) {
    seed = seed * 1664525U + 1013904223U;
    item = static_cast<T>(static_cast<std::int32_t>(seed >> 8U) - (1 << 23)) / T(8e6);
  }
  return out;
}

template <class T>
struct Given {
  explicit Given(const ConvShape& s)
      : images(random_items<T>(s.batch * s.height * s.width * s.channels, 1)),
        kernel(random_items<T>(
            s.kernel_height * s.kernel_width * s.channels / s.groups * s.out_channels, 2)) {}
  std::vector<T> images;
  std::vector<T> kernel;
};

template <class T>
T item_in_order(const ConvShape& s, const Given<T>& x, std::int64_t pixel, std::int64_t o) {
  const std::int64_t depth = s.channels / s.groups;
  const std::int64_t group = o / (s.out_channels / s.groups);
  const std::int64_t row = pixel / s.out_width;
  T sum = 0;
  for (std::int64_t k = 0; k < s.kernel_height * s.kernel_width; ++k) {
    const std::int64_t iy =
        row % s.out_height * s.stride_down - s.top + k / s.kernel_width * s.dilation_down;
    const std::int64_t ix =
        pixel % s.out_width * s.stride_across - s.left + k % s.kernel_width * s.dilation_across;
    const bool inside = iy >= 0 && ix >= 0 && iy < s.height && ix < s.width;
    for (std::int64_t c = 0; c < depth && inside; ++c) {
      const std::int64_t at = ((row / s.out_height * s.height + iy) * s.width + ix) * s.channels;
      sum = std::fma(x.images[static_cast<std::size_t>(at + group * depth + c)],
                     x.kernel[static_cast<std::size_t>((k * depth + c) * s.out_channels + o)], sum);
    }
  }
  return sum;
}

// The whole, or part by part from the last on; behind the scratch, what must not change.
template <class T>
std::vector<T> convolve(const ConvShape& s, const Given<T>& x, Simd level, bool in_parts = false) {
  const Conv<T> conv(s, level);
  constexpr std::size_t kGuard = 64;
  std::vector<std::byte> scratch(conv.scratch() + kGuard, std::byte{0xab});
  std::vector<T> out(static_cast<std::size_t>(s.pixels() * s.out_channels));
  for (std::int64_t part = conv.parts(); in_parts && part-- > 0;) {
    conv.run_part(part, x.images.data(), x.kernel.data(), out.data(), scratch.data());
  }
  if (!in_parts) conv.run(x.images.data(), x.kernel.data(), out.data(), scratch.data());
  for (std::size_t i = conv.scratch(); i < scratch.size(); ++i)
    EXPECT_EQ(scratch[i], std::byte{0xab});
  return out;
}

template <class T>
void expect_sums_in_order(const Sizes& z) {
  const ConvShape s = conv_of(z);
  const Given<T> x(s);
  for (const Simd level : {Simd::kBaseline, Simd::kAvx2, Simd::kAvx512}) {
    if (level > graph::simd_level()) continue;
    const std::vector<T> got = convolve(s, x, level);
    std::size_t wrong = 0;
    for (std::int64_t i = 0; i < s.pixels(); ++i) {
      for (std::int64_t o = 0; o < s.out_channels; ++o) {
        const T want = item_in_order(s, x, i, o);
        wrong += got[static_cast<std::size_t>(i * s.out_channels + o)] != want ? 1 : 0;
      }
    }
    EXPECT_EQ(wrong, 0U) << z.side << ", " << z.channels << " by " << z.kernel << ", " << z.outputs
                         << ", level " << static_cast<int>(level);
  }
}

TEST(Conv, SumsInTheOrderOfTheKernelAroundTheEdgesOfTilesAndImages) {
  for (const std::int64_t outputs : {1, 7, 8, 16, 24, 25, 50}) {
    expect_sums_in_order<float>({2, 7, 5, 3, outputs, 1, 1, 1});
    expect_sums_in_order<double>({1, 6, 3, 3, outputs, 2, 1, 1});
  }
  for (const std::int64_t stride : {1, 2, 3}) {
    for (const std::int64_t dilation : {1, 2}) {
      expect_sums_in_order<float>({2, 9, 4, 3, 10, stride, dilation, 0});
      expect_sums_in_order<float>({1, 8, 3, 4, 9, stride, dilation, 3});
    }
  }
}

TEST(Conv, SumsInOrderWhereTheImageIsReadInPlace) {
  expect_sums_in_order<float>({2, 7, 64, 3, 17, 1, 1, 1});    // a row of the kernel at a time
  expect_sums_in_order<float>({1, 6, 128, 3, 9, 2, 1, 1});    // half a row
  expect_sums_in_order<float>({1, 5, 100, 3, 140, 1, 1, 1});  // a copy of the kernel
  expect_sums_in_order<double>({1, 5, 70, 2, 20, 1, 1, 0});
}

TEST(Conv, KeepsGroupsOfChannelsApart) {
  expect_sums_in_order<float>({2, 5, 6, 3, 4, 1, 1, 1, 2});
  expect_sums_in_order<float>({1, 5, 6, 3, 18, 2, 2, 2, 6});
  expect_sums_in_order<double>({1, 4, 8, 1, 8, 1, 1, 0, 4});
}

TEST(Conv, AKernelOfOnePixelIsAProduct) {
  expect_sums_in_order<float>({2, 5, 11, 1, 33});
  expect_sums_in_order<float>({1, 6, 40, 1, 12, 2});
}

TEST(Conv, PartsGiveTheSameBitsAsTheWholeAndBatchesAsTheirImages) {
  for (const Sizes& z : {Sizes{4, 28, 16, 3, 40, 1, 1, 1}, Sizes{2, 9, 32, 3, 600, 1, 1, 1},
                         Sizes{8, 33, 8, 5, 16, 2, 1, 2}}) {
    const ConvShape s = conv_of(z);
    const Given<float> x(s);
    const std::vector<float> whole = convolve(s, x, graph::simd_level());
    EXPECT_EQ(convolve(s, x, graph::simd_level(), true), whole);
    ConvShape one = s;
    one.batch = 1;
    Given<float> first = x;
    first.images.resize(x.images.size() / static_cast<std::size_t>(s.batch));
    const std::vector<float> alone = convolve(one, first, graph::simd_level());
    EXPECT_EQ(std::memcmp(alone.data(), whole.data(), alone.size() * sizeof(float)), 0);
  }
}

TEST(Conv, ScratchDoesNotGrowWithTheImages) {
  for (const std::int64_t channels : {3, 64, 4096}) {
    for (const std::int64_t outputs : {1, 64, 100'000}) {
      const ConvShape s = conv_of({10'000, 1000, channels, 3, outputs, 1, 1, 1});
      EXPECT_LE(Conv<float>(s).scratch(), std::size_t{1} << 20U);
      EXPECT_LE(Conv<double>(s).scratch(), std::size_t{1} << 20U);
    }
  }
}

}  // namespace
}  // namespace spillway::testing
