#include "spillway/tensor/fingerprint.h"

#include <algorithm>

namespace spillway {

void add_fingerprint(Fnv64& hash, const Tensor& tensor, std::int64_t items) {
  hash.add(name_of(tensor.dtype()));
  for (const std::int64_t dim : tensor.shape().dims()) hash.add(static_cast<std::uint64_t>(dim));
  if (tensor.dtype() == DType::kVariant) return;
  const std::int64_t step = std::max<std::int64_t>(1, tensor.count() / items);
  const std::size_t item = size_of(tensor.dtype());
  for (std::int64_t i = 0; i < tensor.count(); i += step) {
    if (tensor.dtype() == DType::kString) {
      hash.add(tensor.string_at(i));
    } else {
      hash.add(std::string_view(
          reinterpret_cast<const char*>(tensor.data()) + static_cast<std::size_t>(i) * item, item));
    }
  }
}

}  // namespace spillway
