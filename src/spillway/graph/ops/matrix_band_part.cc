#include <cstring>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  if (in.has_rank() && in.rank() < 2) {
    return wrong_shape("input must be at least 2-dim, received shape: ", in.bracketed());
  }
  const std::int64_t below = c.attrs().get_or<std::int64_t>("num_lower", -1);
  const std::int64_t above = c.attrs().get_or<std::int64_t>("num_upper", -1);
  const std::int64_t rows = in.has_rank() ? in[in.rank() - 2] : kUnknownDim;
  const std::int64_t columns = in.has_rank() ? in[in.rank() - 1] : kUnknownDim;
  if (rows >= 0 && below > rows) {
    return invalid_argument("num_lower must be negative or less or equal to number of rows (", rows,
                            ") got: ", below);
  }
  if (columns >= 0 && above > columns) {
    return invalid_argument("num_upper must be negative or less or equal to number of columns (",
                            columns, ") got: ", above);
  }
  c.set(0, c.input(0).dtype, in);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const std::int64_t columns = in[in.rank() - 1];
  const std::int64_t rows = in[in.rank() - 2];
  const std::int64_t below = p.attrs.get_or<std::int64_t>("num_lower", -1);
  const std::int64_t above = p.attrs.get_or<std::int64_t>("num_upper", -1);
  const std::int64_t count = in.count();
  const std::size_t item = size_of(p.inputs[0].dtype);
  return make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
    Looks looks;
    for (std::int64_t i = 0; i < count && !looks.abandoned(); ++i) {
      const std::int64_t off = i % columns - i / columns % rows;  // right of the diagonal
      const bool inside = (below < 0 || -off <= below) && (above < 0 || off <= above);
      std::byte* to = dst[0] + static_cast<std::size_t>(i) * item;
      if (inside) {
        std::memcpy(to, src[0] + static_cast<std::size_t>(i) * item, item);
      } else {
        std::memset(to, 0, item);
      }
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {
    {"input", ParamKind::kTensor}, {"num_lower", ParamKind::kInt}, {"num_upper", ParamKind::kInt}};

}  // namespace

extern constexpr OpDef matrix_band_part_op{
    .name = "matrix_band_part",
    .summary = "Matrices, but zero outside a band around the diagonal.",
    .params = kParams,
    .paths = "linalg.band_part",
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
