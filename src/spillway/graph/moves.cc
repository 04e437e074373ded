#include "spillway/graph/moves.h"

#include <algorithm>
#include <cstring>

namespace spillway::graph {
namespace {

template <std::size_t kBytes>
void copy_items(std::byte* to, const std::byte* from, std::int64_t n, std::int64_t to_step,
                std::int64_t from_step) {
  for (std::int64_t i = 0; i < n; ++i, to += to_step, from += from_step) {
    std::memcpy(to, from, kBytes);
  }
}

void copy_line(std::byte* to, const std::byte* from, std::int64_t n, std::int64_t to_step,
               std::int64_t from_step, std::int64_t item) {
  if (to_step == item && from_step == item) {
    std::memcpy(to, from, static_cast<std::size_t>(n * item));
    return;
  }
  switch (item) {
    case 1:
      return copy_items<1>(to, from, n, to_step, from_step);
    case 2:
      return copy_items<2>(to, from, n, to_step, from_step);
    case 3:  // a pixel of bytes
      return copy_items<3>(to, from, n, to_step, from_step);
    case 4:
      return copy_items<4>(to, from, n, to_step, from_step);
    case 8:
      return copy_items<8>(to, from, n, to_step, from_step);
    case 12:  // a pixel of floats
      return copy_items<12>(to, from, n, to_step, from_step);
    case 16:
      return copy_items<16>(to, from, n, to_step, from_step);
    default:
      for (std::int64_t i = 0; i < n; ++i, to += to_step, from += from_step) {
        std::memcpy(to, from, static_cast<std::size_t>(item));
      }
  }
}

constexpr std::int64_t kShortItem = 64;    // bytes
constexpr std::int64_t kShortLine = 4096;  // items

// A line in pieces, between which it looks.
bool copy_line(std::byte* to, const std::byte* from, std::int64_t n, std::int64_t to_step,
               std::int64_t from_step, std::int64_t item, Mover& mover) {
  if (to_step == item && from_step == item) {
    return mover.copy(to, from, static_cast<std::size_t>(n * item));
  }
  if (item > kShortItem) {
    for (; n > 0; --n, to += to_step, from += from_step) {
      if (!mover.copy(to, from, static_cast<std::size_t>(item))) return false;
    }
    return true;
  }
  for (; n > 0; n -= kShortLine, to += kShortLine * to_step, from += kShortLine * from_step) {
    const std::int64_t some = std::min(n, kShortLine);
    if (mover.abandoned(static_cast<std::size_t>(some * item))) return false;
    copy_line(to, from, some, to_step, from_step, item);
  }
  return true;
}

}  // namespace

bool Mover::copy_long(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kMost) {
    if (!copy(to + at, from + at, std::min(kMost, bytes - at))) return false;
  }
  return true;
}

bool Mover::clear(std::byte* to, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kMost) {
    const std::size_t some = std::min(kMost, bytes - at);
    if (abandoned(some)) return false;
    std::memset(to + at, 0, some);
  }
  return true;
}

Result<int> resolve_axis(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return invalid_argument("Expected axis in the range [", -rank, ", ", rank, "), but got ", axis);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::int64_t integer_at(DType dtype, const std::byte* items, std::int64_t i) {
  std::int64_t value = 0;
  with_type(IntegerTypes(), dtype, [&]<class T>() {
    value = static_cast<std::int64_t>(reinterpret_cast<const T*>(items)[i]);
  });
  return value;
}

std::vector<std::int64_t> integers_of(const Tensor& value) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(value.count()));
  with_type(IntegerTypes(), value.dtype(), [&]<class T>() {
    const T* items = reinterpret_cast<const T*>(value.data());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::int64_t>(items[i]);
  });
  return out;
}

void put_integer(DType dtype, std::byte* items, std::int64_t i, std::int64_t value) {
  with_type(IntegerTypes(), dtype,
            [&]<class T>() { reinterpret_cast<T*>(items)[i] = static_cast<T>(value); });
}

Shape shape_of(const std::vector<std::int64_t>& dims) {
  return Shape(std::span<const std::int64_t>(dims));
}

std::vector<std::int64_t> dims_of(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

Shape unknown_dims(std::int64_t rank) {
  if (rank == kUnknownDim) return Shape::unknown_rank();
  return shape_of(std::vector<std::int64_t>(static_cast<std::size_t>(rank), kUnknownDim));
}

std::int64_t product(std::span<const std::int64_t> dims, int begin, int end) {
  std::int64_t out = 1;
  for (int i = begin; i < end; ++i) out *= dims[static_cast<std::size_t>(i)];
  return out;
}

std::optional<Shape> merge(const Shape& a, const Shape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (a.rank() != b.rank()) return std::nullopt;
  std::vector<std::int64_t> dims = dims_of(a);
  for (int i = 0; i < b.rank(); ++i) {
    std::int64_t& dim = dims[static_cast<std::size_t>(i)];
    if (dim == kUnknownDim) dim = b[i];
    if (b[i] != kUnknownDim && b[i] != dim) return std::nullopt;
  }
  return shape_of(dims);
}

Status movable(const Spec& spec) {
  if (!is_plain(spec.dtype)) return no_kernel(spec.dtype);
  if (spec.shape.rank() > kMostAxes) {
    return Status::error(ErrorKind::kUser, Code::kUnimplemented, "is not defined for rank ",
                         spec.shape.rank());
  }
  return {};
}

Status same_types(const Infer& c, int first) {
  for (int i = first + 1; i < c.inputs(); ++i) {
    if (c.input(i).dtype == c.input(first).dtype) continue;
    Status status =
        invalid_argument("operands of one type are needed: ", name_of(c.input(first).dtype),
                         " and ", name_of(c.input(i).dtype));
    status.edit().type = "TypeError";
    return status;
  }
  return {};
}

AxisView::AxisView(const Shape& shape, int at)
    : outer(product(shape.dims(), 0, at)),
      axis(shape[at]),
      inner(product(shape.dims(), at + 1, shape.rank())) {}

void Box::axis(std::int64_t dim, std::int64_t from, std::int64_t to) {
  empty_ |= dim == 0;
  if (dim == 1) return;
  if (rank_ > 0) {
    const auto last = static_cast<std::size_t>(rank_ - 1);
    if (from_[last] == from * dim && to_[last] == to * dim) {
      dims_[last] *= dim;
      from_[last] = from;
      to_[last] = to;
      return;
    }
  }
  const auto at = static_cast<std::size_t>(rank_++);
  dims_[at] = dim;
  from_[at] = from;
  to_[at] = to;
}

void Box::copy(const std::byte* from, std::byte* to) const {
  if (empty_) return;
  Mover mover;
  if (rank_ == 0) {
    mover.copy(to, from, static_cast<std::size_t>(item_));
    return;
  }
  int outer = rank_ - 1;
  std::int64_t line = dims_[static_cast<std::size_t>(outer)];
  std::int64_t from_step = from_[static_cast<std::size_t>(outer)];
  std::int64_t to_step = to_[static_cast<std::size_t>(outer)];
  std::int64_t item = item_;
  if (from_step == item && to_step == item && outer > 0) {  // whole runs are the items
    item *= line;
    --outer;
    line = dims_[static_cast<std::size_t>(outer)];
    from_step = from_[static_cast<std::size_t>(outer)];
    to_step = to_[static_cast<std::size_t>(outer)];
  }
  const bool short_lines = item <= kShortItem && line <= kShortLine;
  std::array<std::int64_t, 2 * kMostAxes> at{};
  for (;;) {
    if (short_lines) {
      if (mover.abandoned(static_cast<std::size_t>(line * item))) return;
      copy_line(to, from, line, to_step, from_step, item);
    } else if (!copy_line(to, from, line, to_step, from_step, item, mover)) {
      return;
    }
    int d = outer - 1;
    for (; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      from += from_[k];
      to += to_[k];
      if (++at[k] < dims_[k]) break;
      from -= from_[k] * dims_[k];
      to -= to_[k] * dims_[k];
      at[k] = 0;
    }
    if (d < 0) return;
  }
}

std::vector<std::int64_t> byte_strides(const Shape& shape, std::size_t item) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()));
  auto stride = static_cast<std::int64_t>(item);
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = stride;
    stride *= shape[i];
  }
  return strides;
}

Result<Tensor> take_rows(const Compute& c, const Tensor& rows,
                         std::span<const std::int64_t> indices) {
  if (!is_plain(rows.dtype())) return gather_rows(c.account, rows, indices, c.ask);
  constexpr std::size_t kAhead = 8;  // rows: hides the cache miss of a random row
  const Shape row = rows.shape().without_leading();
  SW_ASSIGN(Tensor out,
            c.make(rows.dtype(), row.with_leading(static_cast<std::int64_t>(indices.size()))));
  const std::size_t bytes = static_cast<std::size_t>(row.count()) * size_of(rows.dtype());
  std::byte* to = out.mutable_data();
  Mover mover;
  for (std::size_t k = 0; k < indices.size(); ++k, to += bytes) {
    if (k + kAhead < indices.size()) {
      const std::byte* next = rows.data() + static_cast<std::size_t>(indices[k + kAhead]) * bytes;
      for (std::size_t line = 0; line < bytes && line < 1024; line += 64) {
        __builtin_prefetch(next + line);
      }
    }
    if (!mover.copy(to, rows.data() + static_cast<std::size_t>(indices[k]) * bytes, bytes)) {
      return cancelled();
    }
  }
  out.buffer()->touch();
  return out;
}

void fill_items(std::byte* to, const std::byte* item, std::size_t size, std::int64_t n) {
  const auto step = static_cast<std::int64_t>(size);
  Mover mover;
  copy_line(to, item, n, step, 0, step, mover);
}

}  // namespace spillway::graph
