#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "spillway/graph/nd_index.h"
#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status infer_any(Infer& c) {
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

Status infer(Infer& c) {
  if (!is_one_of(PlainTypes(), c.input(1).dtype)) return no_kernel(c.input(1).dtype);
  return infer_any(c);
}

Status infer_strings(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 1));
  return infer_any(c);
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& indices = p.inputs[0].shape;
  const NdIndex index(p.inputs[0].dtype, p.outputs[0].shape, 0, indices[indices.rank() - 1]);
  const std::int64_t rows = product(indices.dims(), 0, indices.rank() - 1);
  const std::int64_t count = p.outputs[0].shape.count();
  KernelPtr kernel;
  with_type(PlainTypes(), p.outputs[0].dtype, [&]<class T>() {
    kernel = make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
      if (!Mover().clear(out[0], static_cast<std::size_t>(count) * sizeof(T))) return Status();
      Looks looks;
      const T* from = reinterpret_cast<const T*>(in[1]);
      for (std::int64_t r = 0; r < rows; ++r, from += index.slice()) {
        if (looks.abandoned(1 + index.slice())) return Status();
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

// Strings add up to their concatenation, in the order of the updates.
Status compute_strings(Compute& c) {
  const Tensor& indices = c.inputs[0];
  const Tensor& updates = c.inputs[1];
  const Shape into = shape_of(integers_of(c.inputs[2]));
  SW_RETURN_IF_ERROR(check_updates(indices.shape(), updates.shape(), into));
  const NdIndex index(indices.dtype(), into, 0, indices.shape()[indices.shape().rank() - 1]);
  const std::int64_t rows = product(indices.shape().dims(), 0, indices.shape().rank() - 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> moves;  // to, from
  moves.reserve(static_cast<std::size_t>(updates.count()));
  Looks looks;
  for (std::int64_t r = 0; r < rows; ++r) {
    if (looks.abandoned(1 + index.slice())) return {};
    const std::int64_t at = index.at(indices.data(), r);
    if (at < 0) return index.outside(indices.data(), r, "shape");
    for (std::int64_t i = 0; i < index.slice(); ++i) {
      moves.emplace_back(at * index.slice() + i, r * index.slice() + i);
    }
  }
  std::sort(moves.begin(), moves.end());
  StringRun run(into.count());
  auto next = moves.begin();
  for (std::int64_t at = 0; at < into.count() && !looks.abandoned(); ++at) {
    for (; next != moves.end() && next->first == at; ++next) {
      run.text() += updates.string_at(next->second);
    }
    run.end();
  }
  SW_ASSIGN(Tensor out, run.finish(c, into));
  c.outputs.push_back(std::move(out));
  return {};
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
extern constexpr OpDef scatter_nd_strings_op{
    .name = "scatter_nd_strings",
    .summary = "Updates appended to empty strings at the coordinates given.",
    .params = kParams,
    .effect = Effect::kFallible,
    .infer = infer_strings,
    .compute = compute_strings};

}  // namespace spillway::graph
