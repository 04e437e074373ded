#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "spillway/graph/gemm.h"

// Convolutions of images, as products of matrices: a row of the left one is what the kernel covers
// for one pixel of the result, in the order (row, column, channel) of the kernel, zeros outside of
// the image. That matrix is never made: what a tile needs of it is read from the image, or copied,
// a few rows at a time. Each item is summed in that order, every product fused with its sum, so
// nothing but the shapes decides the bits: not the batch, not the part, not the vectors.
namespace spillway::graph {

// [batch, height, width, channels] by [kernel_height, kernel_width, channels / groups,
// out_channels].
struct ConvShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t kernel_height = 0;
  std::int64_t kernel_width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  std::int64_t out_channels = 0;
  std::int64_t stride_down = 1;
  std::int64_t stride_across = 1;
  std::int64_t dilation_down = 1;
  std::int64_t dilation_across = 1;
  std::int64_t top = 0;  // rows of zeros above the image
  std::int64_t left = 0;
  std::int64_t groups = 1;

  std::int64_t pixels() const { return batch * out_height * out_width; }
};

// Pixels of the result, some of its channels, of one group.
template <class T>
struct ConvTask {
  GemmTask<T> product;  // its a: the group's first channel of the first image
  const ConvShape& shape;
  std::int64_t first;  // pixel of the result
};

// T: float or double.
template <class T>
class Conv {
 public:
  explicit Conv(const ConvShape& shape, Simd level = simd_level());

  // The whole result. Allocates nothing.
  void run(const T* images, const T* kernel, T* out, std::byte* scratch) const;
  // One of the parts worth computing apart: at the same time, in any order, each with its own
  // scratch.
  void run_part(std::int64_t part, const T* images, const T* kernel, T* out,
                std::byte* scratch) const;
  std::int64_t parts() const;
  // Bytes a run needs: under a megabyte, however large the images are.
  std::size_t scratch() const;

 private:
  struct Rectangle {
    std::int64_t first;  // pixel
    std::int64_t pixels;
    std::int64_t column;  // of each group's channels
    std::int64_t columns;
  };
  void run_rectangle(const Rectangle& r, const T* images, const T* kernel, T* out,
                     std::byte* scratch) const;

  ConvShape shape_;
  std::optional<Gemm<T>> plain_;  // a kernel of one pixel on all pixels: a product as it is
  Product product_;               // of one group
  GemmBlocks blocks_;
  void (*run_)(const ConvTask<T>&) = nullptr;
  std::int64_t down_ = 1;
  std::int64_t across_ = 1;
  std::size_t scratch_ = 0;
};

}  // namespace spillway::graph
