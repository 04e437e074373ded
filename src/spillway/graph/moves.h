#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "spillway/base/interrupt.h"
#include "spillway/graph/elementwise.h"
#include "spillway/graph/op.h"

// What the ops that move items share: axes, sizes read from tensors, boxes of items.
namespace spillway::graph {

// Most axes a kernel that moves items takes.
inline constexpr int kMostAxes = 16;

// `axis` counted from the front. kUser error when it is outside [-rank, rank).
Result<int> resolve_axis(std::int64_t axis, int rank);

// Item i of int32 or int64 items (any integer type for tensors).
std::int64_t integer_at(DType dtype, const std::byte* items, std::int64_t i);
std::vector<std::int64_t> integers_of(const Tensor& value);
void put_integer(DType dtype, std::byte* items, std::int64_t i, std::int64_t value);

Shape shape_of(const std::vector<std::int64_t>& dims);
std::vector<std::int64_t> dims_of(const Shape& shape);
Shape unknown_dims(std::int64_t rank);  // kUnknownDim: unknown rank
std::int64_t product(std::span<const std::int64_t> dims, int begin, int end);
// What both shapes say, each where the other does not know; nullopt when they disagree.
std::optional<Shape> merge(const Shape& a, const Shape& b);
// Refuses types whose items are not plain bytes, and ranks beyond kMostAxes.
Status movable(const Spec& spec);
// All operands from `first` on have one type.
Status same_types(const Infer& c, int first = 0);
// A ShapeError of the front.
template <class... Parts>
Status wrong_shape(const Parts&... parts) {
  Status status = invalid_argument(parts...);
  status.edit().type = "ShapeError";
  return status;
}

// A tensor seen as [outer, axis, inner].
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t axis = 1;
  std::int64_t inner = 1;
  AxisView(const Shape& shape, int axis);
};

// Copies runs of bytes, one after the other or far apart, and looks now and then whether the work
// was abandoned. Then copy() and clear() do nothing and return false.
class Mover {
 public:
  bool copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes > kMost) return copy_long(to, from, bytes);
    if (looks_.abandoned(static_cast<std::int64_t>(bytes))) return false;
    if (bytes != 0) std::memcpy(to, from, bytes);
    return true;
  }
  bool clear(std::byte* to, std::size_t bytes);
  // For runs that the caller copies.
  bool abandoned(std::size_t bytes) { return looks_.abandoned(static_cast<std::int64_t>(bytes)); }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // some 0.1 ms
  bool copy_long(std::byte* to, const std::byte* from, std::size_t bytes);
  Looks looks_{static_cast<std::int64_t>(kMost)};
};

// Copies a box of items between two layouts. Axes that lie side by side in both move as one.
class Box {
 public:
  explicit Box(std::size_t item) : item_(static_cast<std::int64_t>(item)) {}
  // The next axis inwards; strides in bytes, of any sign.
  void axis(std::int64_t dim, std::int64_t from, std::int64_t to);
  // Allocates nothing. Ends early where the work is abandoned.
  void copy(const std::byte* from, std::byte* to) const;

 private:
  std::int64_t item_;
  bool empty_ = false;
  int rank_ = 0;
  std::array<std::int64_t, 2 * kMostAxes> dims_{};
  std::array<std::int64_t, 2 * kMostAxes> from_{};
  std::array<std::int64_t, 2 * kMostAxes> to_{};
};
// Bytes between neighbours along each axis.
std::vector<std::int64_t> byte_strides(const Shape& shape, std::size_t item);

// The rows of a tensor that `indices` name, one after the other.
Result<Tensor> take_rows(const Compute& c, const Tensor& rows,
                         std::span<const std::int64_t> indices);

// Runs a loop of one operand, or none (null), on n items of so many bytes, unless the work is
// abandoned.
inline void loop_in_stretches(LoopFn fn, const std::byte* from, std::size_t from_item,
                              std::byte* to, std::size_t to_item, std::int64_t n,
                              const void* data = nullptr, const Call* call = nullptr) {
  in_stretches(n, [&](std::int64_t begin, std::int64_t end) {
    const auto first = static_cast<std::size_t>(begin);
    const std::byte* const at = from == nullptr ? nullptr : from + first * from_item;
    fn({&at, to + first * to_item, end - begin, begin, data, call});
  });
}

// Repeats one item n times, unless the work is abandoned.
void fill_items(std::byte* to, const std::byte* item, std::size_t size, std::int64_t n);

}  // namespace spillway::graph
