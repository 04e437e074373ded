#include <cstring>

#include "spillway/graph/nd_index.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  if (!is_integer(c.input(1).dtype)) return no_kernel(c.input(1).dtype);
  const Shape& params = c.input(0).shape;
  const Shape& indices = c.input(1).shape;
  const auto batch = static_cast<int>(c.attrs().get_or<std::int64_t>("batch_dims", 0));
  if (indices.rank() == 0) return wrong_shape("indices must be at least a vector");
  if (!params.has_rank() || !indices.has_rank() || indices[indices.rank() - 1] == kUnknownDim) {
    c.set(0, c.input(0).dtype, Shape::unknown_rank());
    return {};
  }
  const std::int64_t depth = indices[indices.rank() - 1];
  if (batch < 0 || batch >= indices.rank() || batch + depth > params.rank()) {
    return wrong_shape("index innermost dimension length must be <= params rank; saw: ", depth,
                       " vs. ", params.rank() - batch);
  }
  std::vector<std::int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  for (int i = 0; i < batch; ++i) {
    std::int64_t& dim = dims[static_cast<std::size_t>(i)];
    if (dim == kUnknownDim) dim = params[i];
    if (params[i] >= 0 && params[i] != dim) {
      return wrong_shape("params.shape[", i, "]: ", params[i], " should be equal to indices.shape[",
                         i, "]: ", dim);
    }
  }
  for (int i = batch + static_cast<int>(depth); i < params.rank(); ++i) dims.push_back(params[i]);
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& params = p.inputs[0].shape;
  const Shape& indices = p.inputs[1].shape;
  const auto batch = static_cast<int>(p.attrs.get_or<std::int64_t>("batch_dims", 0));
  const NdIndex index(p.inputs[1].dtype, params, batch, indices[indices.rank() - 1]);
  const std::int64_t batches = product(indices.dims(), 0, batch);
  const std::int64_t rows = product(indices.dims(), batch, indices.rank() - 1);
  const std::size_t run = static_cast<std::size_t>(index.slice()) * size_of(p.inputs[0].dtype);
  const std::size_t block = static_cast<std::size_t>(product(params.dims(), batch, params.rank())) *
                            size_of(p.inputs[0].dtype);
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    std::byte* to = out[0];
    Looks looks;
    for (std::int64_t i = 0; i < batches * rows; ++i, to += run) {
      if (looks.abandoned(1 + static_cast<std::int64_t>(run / 16))) return Status();
      const std::int64_t at = index.at(in[1], i);
      if (at < 0) return index.outside(in[1], i, "param shape");
      const std::byte* from = in[0] + static_cast<std::size_t>(i / rows) * block;
      if (run != 0) std::memcpy(to, from + static_cast<std::size_t>(at) * run, run);
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"params", ParamKind::kTensor},
                                {"indices", ParamKind::kTensor, "", 'n'},
                                {"batch_dims", ParamKind::kInt, "0"}};

}  // namespace

extern constexpr OpDef gather_nd_op{.name = "gather_nd",
                                    .summary = "The slices of params whose coordinates are given.",
                                    .params = kParams,
                                    .paths = "gather_nd",
                                    .effect = Effect::kFallible,
                                    .infer = infer,
                                    .prepare = prepare};
extern constexpr OpDef gather_nd_strings_op = string_twin<gather_nd_op>("gather_nd_strings");

}  // namespace spillway::graph
