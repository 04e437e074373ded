#pragma once

#include <algorithm>
#include <vector>

#include "spillway/graph/moves.h"

namespace spillway::graph {

// The attribute `axis` counted from the front; each axis once.
inline Result<std::vector<int>> reversed_axes(const Attrs& attrs, int rank) {
  std::vector<int> axes;
  for (const std::int64_t given : attrs.get_or<std::vector<std::int64_t>>("axis", {})) {
    if (given < -rank || given >= rank) {
      return invalid_argument("'axis'[", axes.size(), "] = ", given, " is out of valid range [0, ",
                              rank - 1, "]");
    }
    const auto axis = static_cast<int>(given < 0 ? given + rank : given);
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
      return invalid_argument("axis ", axis, " specified more than once.");
    }
    axes.push_back(axis);
  }
  return axes;
}

// A copy of a tensor's items in reverse order along axes.
struct Reversal {
  Box box;
  std::int64_t first = 0;  // bytes to the first item copied

  Reversal(const Spec& spec, std::span<const int> axes) : box(size_of(spec.dtype)) {
    const Shape& in = spec.shape;
    const std::vector<std::int64_t> steps = byte_strides(in, size_of(spec.dtype));
    for (int i = 0; i < in.rank(); ++i) {
      const std::int64_t step = steps[static_cast<std::size_t>(i)];
      const bool turned = std::find(axes.begin(), axes.end(), i) != axes.end();
      if (turned) first += (in[i] - 1) * step;
      box.axis(in[i], turned ? -step : step, step);
    }
  }
  void copy(const std::byte* from, std::byte* to) const { box.copy(from + first, to); }
};

}  // namespace spillway::graph
