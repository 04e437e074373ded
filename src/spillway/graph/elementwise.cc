#include "spillway/graph/elementwise.h"

#include <algorithm>

#include "spillway/base/few.h"

namespace spillway::graph {

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown_rank();
  if (a == b) return a;
  const int rank = std::max(a.rank(), b.rank());
  Few<std::int64_t, 8> dims(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int from_end = rank - i;
    const std::int64_t x = from_end <= a.rank() ? a[a.rank() - from_end] : 1;
    const std::int64_t y = from_end <= b.rank() ? b[b.rank() - from_end] : 1;
    // What is unknown must turn out as the other, or as 1.
    const bool takes_y = x == 1 || (x == kUnknownDim && y != 1);
    if (x != y && !takes_y && y != 1 && y != kUnknownDim) return std::nullopt;
    dims.emplace_back(takes_y ? y : x);
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
