#pragma once

#include <string>

#include "spillway/graph/moves.h"

namespace spillway::graph {

// Rows of coordinates into the leading axes of a shape, as gather_nd and scatter_nd have them.
class NdIndex {
 public:
  // Axes [first, first + depth) of `shape` are indexed; what lies behind is one slice.
  NdIndex(DType type, const Shape& shape, int first, std::int64_t depth)
      : type_(type), depth_(depth), shape_(shape), first_(first) {
    slice_ = product(shape.dims(), first + static_cast<int>(depth), shape.rank());
  }
  std::int64_t slice() const { return slice_; }  // items
  // Which slice row `row` of `indices` names; -1: none.
  std::int64_t at(const std::byte* indices, std::int64_t row) const {
    std::int64_t place = 0;
    for (std::int64_t d = 0; d < depth_; ++d) {
      const std::int64_t size = shape_[first_ + static_cast<int>(d)];
      const std::int64_t index = integer_at(type_, indices, row * depth_ + d);
      if (index < 0 || index >= size) return -1;
      place = place * size + index;
    }
    return place;
  }
  Status outside(const std::byte* indices, std::int64_t row, std::string_view what) const {
    std::string text;
    for (std::int64_t d = 0; d < depth_; ++d) {
      text += (d == 0 ? "" : ", ") + std::to_string(integer_at(type_, indices, row * depth_ + d));
    }
    return bad_data(Code::kInvalidArgument, "indices[", row, "] = [", text,
                    "] does not index into ", what, " ", shape_.bracketed());
  }

 private:
  DType type_;
  std::int64_t depth_;
  Shape shape_;
  int first_;
  std::int64_t slice_;
};

// Checks that updates have the shape indices and what they index ask for.
Status check_updates(const Shape& indices, const Shape& updates, const Shape& into);

}  // namespace spillway::graph
