#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const DType type = c.input(0).dtype;
  if (type != DType::kInt32 && type != DType::kInt64) return no_kernel(type);
  const Shape& in = c.input(0).shape;
  if (in.has_rank() && in.rank() != 1) {
    return wrong_shape("invert_permutation expects a 1D vector.");
  }
  c.set(0, type, in.has_rank() ? in : Shape({kUnknownDim}));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const std::int64_t n = p.inputs[0].shape[0];
  const DType type = p.inputs[0].dtype;
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    const bool all = in_stretches(n, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) put_integer(type, out[0], i, -1);
    });
    Looks looks;
    for (std::int64_t i = 0; all && i < n && !looks.abandoned(); ++i) {
      const std::int64_t at = integer_at(type, in[0], i);
      if (at < 0 || at >= n) {
        return bad_data(Code::kInvalidArgument, at, " is not between 0 and ", n);
      }
      if (integer_at(type, out[0], at) >= 0) {
        return bad_data(Code::kInvalidArgument, at, " is duplicated in the input.");
      }
      put_integer(type, out[0], at, i);
    }
    return Status();
  });
}

}  // namespace

extern constexpr OpDef invert_permutation_op{.name = "invert_permutation",
                                             .summary = "Where each of 0, 1, ... stands.",
                                             .params = kUnaryParams,
                                             .paths = "math.invert_permutation",
                                             .effect = Effect::kFallible,
                                             .infer = infer,
                                             .prepare = prepare};

}  // namespace spillway::graph
