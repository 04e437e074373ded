#include "spillway/graph/random_source.h"

#include <limits>

#include "spillway/base/random.h"
#include "spillway/graph/row_roles.h"

namespace spillway::graph {
namespace {

std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32U;
}

}  // namespace

Status check_seed(const Infer& c, int input) {
  const Spec& seed = c.input(input);
  if (seed.dtype != DType::kInt32 && seed.dtype != DType::kInt64) return no_kernel(seed.dtype);
  if (seed.shape.compatible(Shape({2}))) return {};
  return invalid_argument("seed must have shape [2], not ", seed.shape.bracketed());
}

RandomSource source_of(const Attrs& attrs, const Shape& row) {
  RandomSource source;
  source.seed = static_cast<std::uint64_t>(attrs.get_or("seed", std::int64_t{0}));
  source.seed2 = static_cast<std::uint64_t>(attrs.get_or("seed2", std::int64_t{0}));
  source.skip = static_cast<std::uint64_t>(attrs.get_or("skip", std::int64_t{0}));
  source.per_row = attrs.get_or("per_row", false);
  source.row_items = row.count();
  if (attrs.get_or(kSliced, false)) {  // rows of a larger tensor: its items are counted on
    source.call_items = row.without_leading().count();
    source.row_items = std::numeric_limits<std::int64_t>::max();
  }
  return source;
}

RandomSource source_of(const std::byte* seed, DType dtype, const Shape& row) {
  std::int64_t parts[2];
  for (int i = 0; i < 2; ++i) {
    parts[i] = dtype == DType::kInt32 ? reinterpret_cast<const std::int32_t*>(seed)[i]
                                      : reinterpret_cast<const std::int64_t*>(seed)[i];
  }
  // One block under a fixed key, whose counter is the seed.
  Philox mixer(0x02461E293EC8F720U, static_cast<std::uint64_t>(parts[1]));
  mixer.skip(static_cast<std::uint64_t>(parts[0]));
  const Philox::Block mixed = mixer.next();
  RandomSource source;
  source.seed = joined(mixed[0], mixed[1]);
  source.seed2 = joined(mixed[2], mixed[3]);
  source.row_items = row.count();
  return source;
}

Status empty_range(std::int64_t low, std::int64_t high) {
  return invalid_argument("Need minval < maxval, got ", low, " >= ", high);
}

}  // namespace spillway::graph
