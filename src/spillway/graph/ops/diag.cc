#include <cstring>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  if (in.rank() == 0) return wrong_shape("diagonal must be at least 1-dim");
  Shape out = in;
  if (in.has_rank()) {
    std::vector<std::int64_t> dims = dims_of(in);
    dims.push_back(dims.back());
    out = shape_of(dims);
  }
  c.set(0, c.input(0).dtype, out);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const std::int64_t n = in[in.rank() - 1];
  const std::int64_t count = in.count();
  const std::size_t item = size_of(p.inputs[0].dtype);
  return make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
    if (!Mover().clear(dst[0], static_cast<std::size_t>(count * n) * item)) return Status();
    Looks looks;
    for (std::int64_t i = 0; i < count && !looks.abandoned(); ++i) {
      std::memcpy(dst[0] + static_cast<std::size_t>(i * n + i % n) * item,
                  src[0] + static_cast<std::size_t>(i) * item, item);
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"diagonal", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef diag_op{.name = "diag",
                               .summary = "Matrices with the last axis on their diagonal.",
                               .params = kParams,
                               .infer = infer,
                               .prepare = prepare};

}  // namespace spillway::graph
