#pragma once

#include <cstdint>

#include "spillway/base/bytes.h"
#include "spillway/tensor/tensor.h"

namespace spillway {

// Adds type, shape and at most about `items` items spread over the tensor: tells apart what is
// likely to differ, at a price that does not grow with it.
void add_fingerprint(Fnv64& hash, const Tensor& tensor, std::int64_t items);

}  // namespace spillway
