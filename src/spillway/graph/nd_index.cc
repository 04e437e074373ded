#include "spillway/graph/nd_index.h"

namespace spillway::graph {

Status check_updates(const Shape& indices, const Shape& updates, const Shape& into) {
  if (indices.rank() == 0) return wrong_shape("indices must be at least a vector");
  if (!indices.has_rank() || !updates.has_rank() || !into.has_rank()) return {};
  const int rows = indices.rank() - 1;
  const std::int64_t depth = indices[rows];
  if (depth == kUnknownDim) return {};
  if (depth > into.rank()) {
    return wrong_shape("index innermost dimension length must be <= the rank of what it indexes; ",
                       "saw: ", depth, " vs. ", into.rank());
  }
  std::vector<std::int64_t> wanted(indices.dims().begin(), indices.dims().begin() + rows);
  for (int i = static_cast<int>(depth); i < into.rank(); ++i) wanted.push_back(into[i]);
  if (shape_of(wanted).compatible(updates)) return {};
  return wrong_shape("updates must have shape ", shape_of(wanted).bracketed(), ", not ",
                     updates.bracketed(), ": indices ", indices.bracketed(), " into ",
                     into.bracketed());
}

}  // namespace spillway::graph
