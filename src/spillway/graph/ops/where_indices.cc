#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  if (!is_one_of(PlainTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  const Shape& in = c.input(0).shape;
  if (in.has_rank() && in.rank() == 0) {
    return invalid_argument("WhereOp : Unhandled input dimensions: 0");
  }
  c.set(0, DType::kInt64, Shape({kUnknownDim, in.has_rank() ? in.rank() : kUnknownDim}));
  return {};
}

Status compute(Compute& c) {
  const Tensor& in = c.inputs[0];
  if (in.shape().rank() == 0) {
    return invalid_argument("WhereOp : Unhandled input dimensions: 0");
  }
  std::vector<std::int64_t> found;
  with_type(PlainTypes(), in.dtype(), [&]<class T>() {
    const T* items = in.as<T>();
    in_stretches(in.count(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (widen(items[i]) != Wide<T>(0)) found.push_back(i);
      }
    });
  });
  const int rank = in.shape().rank();
  SW_ASSIGN(Tensor out,
            c.make(DType::kInt64, Shape({static_cast<std::int64_t>(found.size()), rank})));
  auto* to = reinterpret_cast<std::int64_t*>(out.mutable_data());
  Looks looks;
  for (std::int64_t at : found) {
    if (looks.abandoned()) break;
    for (int d = rank - 1; d >= 0; --d) {
      to[d] = at % in.shape()[d];
      at /= in.shape()[d];
    }
    to += rank;
  }
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"condition", ParamKind::kTensor}};

}  // namespace

extern constexpr OpDef where_indices_op{.name = "where_indices",
                                        .summary = "The places of the items that are not zero.",
                                        .params = kParams,
                                        .infer = infer,
                                        .compute = compute};

}  // namespace spillway::graph
