#include <cstring>

#include "spillway/graph/nd_index.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (!is_one_of(PlainTypes(), c.input(1).dtype)) return no_kernel(c.input(1).dtype);
  if (!is_integer(c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  if (const Tensor* value = c.constant(2)) {
    for (const std::int64_t dim : integers_of(*value)) {
      if (dim < 0) return invalid_argument("Dimension ", dim, " must be >= 0");
    }
  }
  const Shape& given = c.input(2).shape;
  const Shape into =
      c.as_shape(2) ? *c.as_shape(2) : unknown_dims(given.rank() == 1 ? given[0] : kUnknownDim);
  SW_RETURN_IF_ERROR(check_updates(c.input(0).shape, c.input(1).shape, into));
  c.set(0, c.input(1).dtype, into);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& indices = p.inputs[0].shape;
  const NdIndex index(p.inputs[0].dtype, p.outputs[0].shape, 0, indices[indices.rank() - 1]);
  const std::int64_t rows = product(indices.dims(), 0, indices.rank() - 1);
  const std::int64_t count = p.outputs[0].shape.count();
  KernelPtr kernel;
  with_type(PlainTypes(), p.outputs[0].dtype, [&]<class T>() {
    kernel = make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
      std::memset(out[0], 0, static_cast<std::size_t>(count) * sizeof(T));
      const T* from = reinterpret_cast<const T*>(in[1]);
      for (std::int64_t r = 0; r < rows; ++r, from += index.slice()) {
        const std::int64_t at = index.at(in[0], r);
        if (at < 0) return index.outside(in[0], r, "shape");
        T* to = reinterpret_cast<T*>(out[0]) + at * index.slice();
        for (std::int64_t i = 0; i < index.slice(); ++i) {
          using Sum = Wrapping<Wide<T>>;
          to[i] = static_cast<T>(static_cast<Sum>(widen(to[i])) + static_cast<Sum>(widen(from[i])));
        }
      }
      return Status();
    });
  });
  return kernel;
}

constexpr ParamDef kParams[] = {{"indices", ParamKind::kTensor, "", 'n'},
                                {"updates", ParamKind::kTensor},
                                {"shape", ParamKind::kTensor, "", 'n'}};

}  // namespace

extern constexpr OpDef scatter_nd_op{
    .name = "scatter_nd",
    .summary = "Updates added into zeros at the coordinates given.",
    .params = kParams,
    .paths = "scatter_nd",
    .effect = Effect::kFallible,
    .infer = infer,
    .prepare = prepare};

}  // namespace spillway::graph
