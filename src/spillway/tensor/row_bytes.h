#pragma once

#include <functional>
#include <span>

#include "spillway/tensor/tensor.h"

namespace spillway {

// What append_row_bytes (chunk.h) would append, piece by piece and without a copy of the values:
// for whoever writes large rows. kUser error for variants, before the first piece.
Status visit_row_bytes(std::span<const Tensor> values,
                       const std::function<void(std::span<const std::byte>)>& visit);

}  // namespace spillway
