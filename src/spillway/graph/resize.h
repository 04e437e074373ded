#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spillway/graph/op.h"

// What the ops that resize images share: shapes, where each item of the result takes from, and two
// kernels that go over an image one axis at a time. Images are [height, width, channels] or
// [batch, height, width, channels]; the second operand is [new height, new width].
namespace spillway::graph {

struct Resizing {
  std::int64_t batch = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t new_height = 0;
  std::int64_t new_width = 0;

  explicit Resizing(const Prepare& p);
  bool same_size() const { return height == new_height && width == new_width; }
};

// The output has the type `out`, or that of the images. Refuses images and sizes without pixels.
Status infer_resize(Infer& c, std::optional<DType> out);

inline constexpr ParamDef kResizeParams[] = {{"images", ParamKind::kTensor},
                                             {"size", ParamKind::kTensor, "", 'i'}};

// ---- Where an item takes from
// --------------------------------------------------------------------

struct Tap {
  std::int32_t at;
  float weight;
};

// For each place along an axis of the result: places along the image's, and their weights.
class Taps {
 public:
  void add(std::int64_t at, float weight) {
    taps_.push_back({static_cast<std::int32_t>(at), weight});
  }
  void end_place();
  // The same with places in items, not pixels.
  void in_items(std::int64_t channels);
  // The places in reverse order.
  void turn();
  // The same for an image that lies in reverse order: place i of it is at `last` - i.
  void turn_image(std::int64_t last);

  std::span<const Tap> of(std::int64_t place) const {
    const auto i = static_cast<std::size_t>(place);
    return {taps_.data() + begin_[i], static_cast<std::size_t>(begin_[i + 1] - begin_[i])};
  }
  std::int64_t most() const { return most_; }  // taps of one place
  // Neighbouring places of the image that hold all taps of a place. They are in order.
  std::int64_t span() const;
  // All of them, one place after another, and where each place ends.
  const Tap* all() const { return taps_.data(); }
  const std::int64_t* ends() const { return begin_.data() + 1; }

 private:
  std::vector<std::int64_t> begin_ = {0};
  std::vector<Tap> taps_;
  std::int64_t most_ = 1;
};

// The image's pixels in a pixel of the result, along an axis.
inline float resize_scale(std::int64_t size, std::int64_t new_size) {
  return static_cast<float>(size) / static_cast<float>(new_size);
}
// Where the middle of pixel i of the result lies in the image, counted from the middle of pixel 0.
inline float pixel_center(std::int64_t i, float scale) {
  return (static_cast<float>(i) + 0.5F) * scale - 0.5F;
}

// ---- Kernels
// -------------------------------------------------------------------------------------

enum class Blend : std::uint8_t {
  kSum,   // the weighted sum of all taps, in their order
  kLerp,  // two taps: the first, and the second's weight of the way to the second
};

// One axis of a kernel. A sum begins with `start`: -0 is no item at all, to the last bit.
struct Pass {
  Taps taps;
  float start = -0.0F;
};

// float32 images of real ones. Both walk the rows of the result and keep what they need in scratch.
// Each row of the image is blended across once, then those are blended down; times `scale`.
Result<KernelPtr> resize_columns_first(const Resizing& size, DType dtype, Blend blend, Pass across,
                                       Pass down, float scale = 1);
// float32 images of the same size: no neighbour is looked at, whatever it is.
KernelPtr resize_to_same(const Resizing& size, DType dtype);
// Rows of the image are summed, then that row is summed across.
Result<KernelPtr> resize_rows_first(const Resizing& size, DType dtype, Pass across, Pass down);

}  // namespace spillway::graph
