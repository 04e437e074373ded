#pragma once

#include <cstdint>

#include "spillway/graph/op.h"

// What slides over images, [batch, height, width, channels]: kernels of convolutions, windows of
// pools. Attributes: strides and dilations [down, across]; padding "SAME", "VALID" or "EXPLICIT",
// the last with paddings [top, bottom, left, right].
namespace spillway::graph {

// Along one axis. Unknown sizes are kUnknownDim.
struct Window {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;  // places outside of the image, in front of it
  std::int64_t out = 0;     // places of the window

  // Items from place `at` of the image on that lie inside of it: taps [begin, end).
  struct Taps {
    std::int64_t begin;
    std::int64_t end;
  };
  Taps inside(std::int64_t at, std::int64_t length) const;
  // Where in the image (or outside of it) place `i` of the window begins.
  std::int64_t start(std::int64_t i) const { return i * stride - before; }
};

struct Windows {
  Window down;
  Window across;
};

// For an image of `shape` (rank 4 or unknown) and a window of `height` x `width`. kUser errors:
// strides, dilations and paddings that are not as above, windows that do not fit the image.
Result<Windows> windows_of(const Attrs& attrs, const Shape& shape, std::int64_t height,
                           std::int64_t width);

// Refuses what is not [batch, height, width, channels].
Status check_images(const Infer& c);
// What convolutions compute in: refuses all but float32 and float64, by name.
Status check_convolved(const Infer& c);

// Pixels or rows of a result, shared in parts of about equal length.
struct Shares {
  std::int64_t units = 0;
  std::int64_t parts = 1;
  Shares() = default;
  // `work`: products, or what takes as long.
  Shares(std::int64_t of, double work);
  std::int64_t begin(std::int64_t part) const { return units * part / parts; }
};

}  // namespace spillway::graph
