#pragma once

#include "spillway/graph/random_source.h"

namespace spillway::graph {

// The rows of the leading dimension in the order that `source` deals them in row `row`, as
// TensorFlow's CPU kernels do.
Result<Tensor> shuffle_rows(const Compute& c, const Tensor& value, const RandomSource& source);

}  // namespace spillway::graph
