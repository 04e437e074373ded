#include "spillway/graph/elementwise.h"

#include <algorithm>

namespace spillway::graph {

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown_rank();
  const int rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int from_end = rank - i;
    const std::int64_t x = from_end <= a.rank() ? a[a.rank() - from_end] : 1;
    const std::int64_t y = from_end <= b.rank() ? b[b.rank() - from_end] : 1;
    std::int64_t& out = dims[static_cast<std::size_t>(i)];
    if (x == y) {
      out = x;
    } else if (x == 1) {
      out = y;
    } else if (y == 1) {
      out = x;
    } else if (x == kUnknownDim) {
      out = y;  // must turn out as y, or as 1
    } else if (y == kUnknownDim) {
      out = x;
    } else {
      return std::nullopt;
    }
  }
  return Shape(std::span<const std::int64_t>(dims));
}

Status no_kernel(DType dtype) {
  Status status = invalid_argument("is not defined for ", name_of(dtype));
  status.edit().type = "TypeError";
  return status;
}

Status infer_broadcast(Infer& c, std::optional<DType> out) {
  Shape shape = c.input(0).shape;
  for (int i = 1; i < c.inputs(); ++i) {
    const auto both = broadcast(shape, c.input(i).shape);
    if (!both) {
      Status status = invalid_argument("Incompatible shapes: ", c.input(0).shape.bracketed(),
                                       " vs. ", c.input(i).shape.bracketed());
      status.edit().type = "ShapeError";
      return status;
    }
    shape = *both;
  }
  c.set(0, out.value_or(c.input(0).dtype), std::move(shape));
  return {};
}

}  // namespace spillway::graph
