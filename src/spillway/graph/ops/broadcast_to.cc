#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  if (const Tensor* shape = c.constant(1)) {
    for (const std::int64_t dim : integers_of(*shape)) {
      if (dim < 0) return invalid_argument("Dimension ", dim, " must be >= 0");
    }
  }
  if (!c.as_shape(1)) {
    const Shape& wanted = c.input(1).shape;
    c.set(0, c.input(0).dtype, unknown_dims(wanted.rank() == 1 ? wanted[0] : kUnknownDim));
    return {};
  }
  const Shape& to = *c.as_shape(1);
  if (in.rank() > to.rank()) {
    return wrong_shape("Rank of input (", in.rank(),
                       ") must be no greater than rank of output shape (", to.rank(), ").");
  }
  std::vector<std::int64_t> dims = dims_of(to);
  const int more = to.rank() - in.rank();
  for (int i = 0; i < in.rank(); ++i) {
    const int at = more + i;
    std::int64_t& dim = dims[static_cast<std::size_t>(at)];
    if (in[i] <= 1 && in[i] != 0) continue;  // 1 or unknown: nothing to learn
    if (dim == kUnknownDim) dim = in[i];
    if (dim != in[i]) {
      return wrong_shape("Incompatible shapes: ", in.bracketed(), " vs. ", to.bracketed());
    }
  }
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const Shape& out = p.outputs[0].shape;
  const std::size_t item = size_of(p.inputs[0].dtype);
  const std::vector<std::int64_t> from = byte_strides(in, item);
  const std::vector<std::int64_t> to = byte_strides(out, item);
  Box box(item);
  for (int i = 0; i < out.rank(); ++i) {
    const int own = i - (out.rank() - in.rank());
    const bool repeated = own < 0 || in[own] == 1;
    box.axis(out[i], repeated ? 0 : from[static_cast<std::size_t>(own)],
             to[static_cast<std::size_t>(i)]);
  }
  return make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
    box.copy(src[0], dst[0]);
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"shape", ParamKind::kTensor, "", 'n'}};

}  // namespace

extern constexpr OpDef broadcast_to_op{.name = "broadcast_to",
                                       .summary = "The items repeated up to a shape.",
                                       .params = kParams,
                                       .paths = "broadcast_to",
                                       .infer = infer,
                                       .prepare = prepare};
extern constexpr OpDef broadcast_to_strings_op =
    string_twin<broadcast_to_op>("broadcast_to_strings");

}  // namespace spillway::graph
