#include "spillway/tensor/extent.h"

#include <algorithm>

#include "spillway/base/bytes.h"

namespace spillway {
namespace {

// TensorFlow's words: people search for them.
Status too_many(const Shape& shape) {
  Status status =
      invalid_argument("Shape ", shape.bracketed(), " would have more than 2**63 - 1 elements");
  status.edit().type = "ShapeError";
  return status;
}

Status negative(const Shape& shape) {
  Status status = invalid_argument("Dimensions must be >= 0, found shape ", shape.to_string());
  status.edit().type = "ShapeError";
  return status;
}

}  // namespace

Status check_extent(DType dtype, const Shape& shape) {
  std::int64_t items = 1;
  for (const std::int64_t dim : shape.dims()) {
    if (dim < kUnknownDim) return negative(shape);
    if (__builtin_mul_overflow(items, std::max<std::int64_t>(dim, 1), &items)) {
      return too_many(shape);
    }
  }
  const auto item = static_cast<std::int64_t>(std::max<std::size_t>(1, size_of(dtype)));
  if (items <= kMostTensorBytes / item) return {};
  Status status =
      out_of_resource("the value does not fit: ", name_of(dtype), " ", shape.to_string(), " has ",
                      format_bytes(static_cast<std::size_t>(saturated_product(items, item))),
                      ", no machine has as much memory");
  status.edit().type = "BudgetError";
  return status;
}

}  // namespace spillway
