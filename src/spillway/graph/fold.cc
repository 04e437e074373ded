#include "spillway/graph/fold.h"

#include <algorithm>

namespace spillway::graph {

Result<std::vector<int>> fold_axes(const Attrs& attrs, int rank) {
  std::vector<int> axes;
  const auto* given = attrs.get<std::vector<std::int64_t>>("axis");
  if (given == nullptr) {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (const std::int64_t axis : *given) {
    if (axis < -rank || axis >= rank) {
      return invalid_argument("Invalid reduction dimension (", axis, " for input with ", rank,
                              " dimension(s)");
    }
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return invalid_argument("Invalid reduction arguments: Axes contains duplicate dimension");
  }
  return axes;
}

std::optional<FoldShape> fold_shape(const Shape& shape, std::span<const int> axes) {
  FoldShape out;
  int state = 0;  // before, within, after the reduced axes
  for (int i = 0; i < shape.rank(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (shape[i] == 1) continue;
    if (reduced) {
      if (state == 2) return std::nullopt;
      state = 1;
      out.reduced *= shape[i];
    } else if (state == 0) {
      out.outer *= shape[i];
    } else {
      state = 2;
      out.inner *= shape[i];
    }
  }
  return out;
}

Status infer_fold(Infer& c, DType dtype) {
  const Shape& in = c.input(0).shape;
  const bool keep = c.attrs().get_or("keepdims", false);
  const bool all = c.attrs().get<std::vector<std::int64_t>>("axis") == nullptr;
  if (!in.has_rank()) {
    c.set(0, dtype, all && !keep ? Shape() : Shape::unknown_rank());
    return {};
  }
  SW_ASSIGN(const std::vector<int> axes, fold_axes(c.attrs(), in.rank()));
  std::vector<std::int64_t> dims;
  for (int i = 0; i < in.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      dims.push_back(in[i]);
    } else if (keep) {
      dims.push_back(1);
    }
  }
  c.set(0, dtype, Shape(std::span<const std::int64_t>(dims)));
  return {};
}

// Before the item at `within` of a group: a new accumulator, or a new segment.
void FoldRun::begin(std::int64_t within) {
  if (within == 0) way_.init(acc_, shape_.inner);
  if (in_segments(shape_) && within % kSegment == 0) way_.init(acc_ + way_.bytes, 1);
}

void FoldRun::close(std::int64_t group) {
  way_.finish(acc_, out_ + static_cast<std::size_t>(group * shape_.inner) * out_item_, shape_.inner,
              shape_.reduced);
}

void FoldRun::empty_groups(std::int64_t groups) {
  for (std::int64_t g = 0; g < groups; ++g) {
    way_.init(acc_, shape_.inner);
    close(g);
  }
}

void FoldRun::take(const std::byte* items, std::int64_t first, std::int64_t n) {
  const std::int64_t group_items = shape_.reduced * shape_.inner;
  while (n > 0) {
    const std::int64_t group = first / group_items;
    const std::int64_t within = first % group_items;
    std::int64_t used = 0;
    begin(within);
    if (in_segments(shape_)) {
      used = std::min({n, group_items - within, kSegment - within % kSegment});
      way_.take(acc_ + way_.bytes, items, used, within);
      const bool ends = (within + used) % kSegment == 0 || within + used == group_items;
      if (ends) way_.merge(acc_, acc_ + way_.bytes, 1);
    } else if (shape_.inner == 1) {
      used = std::min(n, group_items - within);
      way_.take(acc_, items, used, within);
    } else {
      const std::int64_t lane = within % shape_.inner;
      used = std::min(n, shape_.inner - lane);
      way_.take(acc_ + static_cast<std::size_t>(lane) * way_.bytes, items, used,
                within / shape_.inner);
    }
    if (within + used == group_items) close(group);
    items += static_cast<std::size_t>(used) * in_item_;
    first += used;
    n -= used;
  }
}

}  // namespace spillway::graph
