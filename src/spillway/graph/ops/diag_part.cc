#include <algorithm>
#include <cstring>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  if (!in.has_rank()) {
    c.set(0, c.input(0).dtype, in);
    return {};
  }
  if (in.rank() < 2) return wrong_shape("input must be at least 2-dim, not ", in.bracketed());
  std::vector<std::int64_t> dims = dims_of(in);
  const std::int64_t columns = dims.back();
  dims.pop_back();
  dims.back() = columns < 0 || dims.back() < 0 ? kUnknownDim : std::min(dims.back(), columns);
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const std::int64_t columns = in[in.rank() - 1];
  const std::int64_t matrix = columns * in[in.rank() - 2];
  const std::int64_t n = p.outputs[0].shape[in.rank() - 2];
  const std::int64_t count = p.outputs[0].shape.count();
  const std::size_t item = size_of(p.inputs[0].dtype);
  return make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
    Looks looks;
    for (std::int64_t i = 0; i < count && !looks.abandoned(); ++i) {
      const std::int64_t from = i / n * matrix + i % n * (columns + 1);
      std::memcpy(dst[0] + static_cast<std::size_t>(i) * item,
                  src[0] + static_cast<std::size_t>(from) * item, item);
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef diag_part_op{.name = "diag_part",
                                    .summary = "The diagonals of matrices.",
                                    .params = kParams,
                                    .infer = infer,
                                    .prepare = prepare};

}  // namespace spillway::graph
