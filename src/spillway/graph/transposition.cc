#include "spillway/graph/transposition.h"

#include <algorithm>
#include <cstring>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

template <std::size_t kBytes>
void copy_line(std::byte* to, const std::byte* from, std::int64_t n, std::int64_t stride) {
  for (std::int64_t i = 0; i < n; ++i, to += kBytes, from += stride) std::memcpy(to, from, kBytes);
}

void copy_line(std::byte* to, const std::byte* from, std::int64_t n, std::int64_t stride,
               std::size_t run) {
  switch (run) {
    case 1:
      return copy_line<1>(to, from, n, stride);
    case 2:
      return copy_line<2>(to, from, n, stride);
    case 4:
      return copy_line<4>(to, from, n, stride);
    case 8:
      return copy_line<8>(to, from, n, stride);
    case 12:
      return copy_line<12>(to, from, n, stride);
    case 16:
      return copy_line<16>(to, from, n, stride);
    default:
      for (std::int64_t i = 0; i < n; ++i, to += run, from += stride) std::memcpy(to, from, run);
  }
}

constexpr std::size_t kShortRun = 4096;   // bytes
constexpr std::int64_t kMostRuns = 4096;  // short ones that are moved at once

bool is_reduced(std::span<const int> axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

Transposition::Transposition(const Shape& shape, std::span<const int> order, std::size_t item) {
  std::vector<std::int64_t> in_strides(static_cast<std::size_t>(shape.rank()));
  std::int64_t stride = static_cast<std::int64_t>(item);
  for (int i = shape.rank() - 1; i >= 0; --i) {
    in_strides[static_cast<std::size_t>(i)] = stride;
    stride *= shape[i];
  }
  for (const int axis : order) {
    if (shape[axis] == 1) continue;
    const std::int64_t step = in_strides[static_cast<std::size_t>(axis)];
    if (!dims_.empty() && strides_.back() == step * shape[axis]) {
      dims_.back() *= shape[axis];
      strides_.back() = step;
    } else {
      dims_.push_back(shape[axis]);
      strides_.push_back(step);
    }
  }
  run_ = item;
  if (!dims_.empty() && strides_.back() == static_cast<std::int64_t>(item)) {
    run_ *= static_cast<std::size_t>(dims_.back());
    dims_.pop_back();
    strides_.pop_back();
  }
  for (const std::int64_t dim : dims_) count_ *= dim;
}

const std::byte* Transposition::place(const std::byte* from, std::int64_t number) const {
  for (std::size_t d = dims_.size(); d-- > 0;) {
    from += number % dims_[d] * strides_[d];
    number /= dims_[d];
  }
  return from;
}

void Transposition::run(const std::byte* from, std::byte* to, std::int64_t first,
                        std::int64_t n) const {
  if (count_ == 0 || run_ == 0) return;
  Mover mover;
  if (dims_.empty()) {
    mover.copy(to, from, run_);
    return;
  }
  const std::int64_t line = dims_.back();
  while (n > 0) {
    const std::int64_t some = std::min({n, line - first % line, kMostRuns});
    if (run_ > kShortRun) {
      if (!mover.copy(to, place(from, first), run_)) return;
      to += run_;
      ++first;
      --n;
      continue;
    }
    if (mover.abandoned(static_cast<std::size_t>(some) * run_)) return;
    copy_line(to, place(from, first), some, strides_.back(), run_);
    to += static_cast<std::size_t>(some) * run_;
    first += some;
    n -= some;
  }
}

Transposition reduced_last(const Shape& shape, std::span<const int> axes, std::size_t item) {
  std::vector<int> order;
  for (const bool reduced : {false, true}) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (is_reduced(axes, i) == reduced) order.push_back(i);
    }
  }
  return {shape, order, item};
}

FoldShape fold_shape_last(const Shape& shape, std::span<const int> axes) {
  FoldShape out;
  for (int i = 0; i < shape.rank(); ++i)
    (is_reduced(axes, i) ? out.reduced : out.outer) *= shape[i];
  return out;
}

}  // namespace spillway::graph
