#include <cstring>

#include "spillway/graph/nd_index.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  if (!is_integer(c.input(1).dtype)) return no_kernel(c.input(1).dtype);
  SW_RETURN_IF_ERROR(check_updates(c.input(1).shape, c.input(2).shape, c.input(0).shape));
  c.set(0, c.input(0).dtype, c.input(0).shape);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& into = p.inputs[0].shape;
  const Shape& indices = p.inputs[1].shape;
  const NdIndex index(p.inputs[1].dtype, into, 0, indices[indices.rank() - 1]);
  const std::int64_t rows = product(indices.dims(), 0, indices.rank() - 1);
  const std::size_t item = size_of(p.inputs[0].dtype);
  const std::size_t run = static_cast<std::size_t>(index.slice()) * item;
  const std::size_t whole = static_cast<std::size_t>(into.count()) * item;
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    if (!Mover().copy(out[0], in[0], whole)) return Status();
    Looks looks;
    for (std::int64_t r = 0; r < rows; ++r) {
      if (looks.abandoned(1 + static_cast<std::int64_t>(run / 16))) return Status();
      const std::int64_t at = index.at(in[1], r);
      if (at < 0) return index.outside(in[1], r, "shape");
      if (run == 0) continue;
      std::memcpy(out[0] + static_cast<std::size_t>(at) * run,
                  in[2] + static_cast<std::size_t>(r) * run, run);
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"tensor", ParamKind::kTensor},
                                {"indices", ParamKind::kTensor, "", 'n'},
                                {"updates", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef tensor_scatter_nd_update_op{
    .name = "tensor_scatter_nd_update",
    .summary = "The tensor with other slices at the coordinates given; the last of several.",
    .params = kParams,
    .paths = "tensor_scatter_nd_update",
    .effect = Effect::kFallible,
    .infer = infer,
    .prepare = prepare};
extern constexpr OpDef tensor_scatter_nd_update_strings_op =
    string_twin<tensor_scatter_nd_update_op>("tensor_scatter_nd_update_strings");

}  // namespace spillway::graph
