#include <algorithm>
#include <cmath>
#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/resize.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_resize(c, std::nullopt); }

std::vector<std::int64_t> nearest(std::int64_t size, std::int64_t new_size, std::int64_t step) {
  const float scale = resize_scale(size, new_size);
  std::vector<std::int64_t> places(static_cast<std::size_t>(new_size));
  for (std::int64_t i = 0; i < new_size; ++i) {
    const float at = std::floor((static_cast<float>(i) + 0.5F) * scale);
    places[static_cast<std::size_t>(i)] =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, size - 1) * step;
  }
  return places;
}

using CopyRow = void (*)(std::byte* to, const std::byte* from,
                         const std::vector<std::int64_t>& places, std::size_t pixel);

// Pixels of a size the compiler knows are moved without a call; 0: of any size.
template <std::size_t known>
void copy_row(std::byte* to, const std::byte* from, const std::vector<std::int64_t>& places,
              std::size_t pixel) {
  const std::size_t bytes = known == 0 ? pixel : known;
  for (const std::int64_t at : places) {
    std::memcpy(to, from + at, bytes);
    to += bytes;
  }
}

CopyRow copy_of(std::size_t pixel) {
  switch (pixel) {
    case 1:
      return copy_row<1>;
    case 2:
      return copy_row<2>;
    case 3:
      return copy_row<3>;
    case 4:
      return copy_row<4>;
    case 6:
      return copy_row<6>;
    case 12:
      return copy_row<12>;
    default:
      return copy_row<0>;
  }
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Resizing size(p);
  const std::size_t pixel = static_cast<std::size_t>(size.channels) * size_of(p.inputs[0].dtype);
  const auto step = static_cast<std::int64_t>(pixel);
  const auto across = nearest(size.width, size.new_width, step);
  const auto down = nearest(size.height, size.new_height, size.width * step);
  const auto image = static_cast<std::size_t>(size.height * size.width) * pixel;
  const auto row = static_cast<std::size_t>(size.new_width) * pixel;
  const CopyRow copy = copy_of(pixel);
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    std::byte* to = out[0];
    Mover mover;
    for (std::int64_t b = 0; b < size.batch; ++b) {
      const std::byte* from = in[0] + static_cast<std::size_t>(b) * image;
      for (std::size_t y = 0; y < down.size(); ++y, to += row) {
        if (mover.abandoned(row)) return Status();
        if (y > 0 && down[y] == down[y - 1]) {
          std::memcpy(to, to - row, row);
        } else {
          copy(to, from + down[y], across, pixel);
        }
      }
    }
    return Status();
  });
}

}  // namespace

extern constexpr OpDef resize_nearest_op{
    .name = "resize_nearest",
    .summary = "Images of another size, each pixel the nearest of the image.",
    .params = kResizeParams,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
