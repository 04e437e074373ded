#include "spillway/graph/shuffle_rows.h"

#include <numeric>

#include "spillway/base/interrupt.h"
#include "spillway/base/random.h"

namespace spillway::graph {

Result<Tensor> shuffle_rows(const Compute& c, const Tensor& value, const RandomSource& source) {
  if (value.shape().rank() == 0 || value.shape()[0] < 2) return value;
  const auto n = static_cast<std::size_t>(value.shape()[0]);
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  PhiloxStream numbers =
      PhiloxStream::at(source.seed, row_stream(source, c.call, 0), source.skip * 4);
  Looks looks;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (looks.abandoned()) return cancelled();
    std::swap(order[i], order[i + numbers.next() % static_cast<std::uint32_t>(n - i)]);
  }
  return take_rows(c, value, order);
}

}  // namespace spillway::graph
