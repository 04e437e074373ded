#pragma once

#include <cstdint>

#include "spillway/graph/simd.h"
#include "spillway/graph/window.h"

// Convolutions that keep channels apart: [batch, height, width, channels] by [kernel_height,
// kernel_width, channels, multiplier]. Sums over what the kernel covers, in its order, every
// product fused with its sum; what lies outside of the image is left out.
namespace spillway::graph {

struct DepthwiseShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t multiplier = 1;
  Windows windows;
};

// Some rows of the result, counted over all images.
template <class T>
struct DepthwiseTask {
  const DepthwiseShape& shape;
  const T* images;
  const T* kernel;
  T* out;
  std::int64_t begin;
  std::int64_t end;
};

// T: float or double. For these channels, at this level.
template <class T>
void (*depthwise_rows(const DepthwiseShape& shape, Simd level))(const DepthwiseTask<T>&);

}  // namespace spillway::graph
