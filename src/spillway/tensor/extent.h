#pragma once

#include <cstdint>
#include <limits>

#include "spillway/base/status.h"
#include "spillway/tensor/dtype.h"
#include "spillway/tensor/shape.h"

namespace spillway {

// Sizes of what does not exist yet. A sum or product that no int64 holds stays at its end instead
// of wrapping, so that check_extent() finds it. Neither operand is negative.
inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}
inline std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}

// No machine has as many bytes. A few hundred values of this size still add up without wrapping.
inline constexpr std::int64_t kMostTensorBytes = std::int64_t{1} << 54;

// Whether a tensor of this shape can exist: its items can be counted and its bytes added up.
// Dimensions that are not known yet count as one, and so do those of size zero: what is empty must
// still have strides. A ShapeError or, for the bytes, a BudgetError.
Status check_extent(DType dtype, const Shape& shape);

}  // namespace spillway
