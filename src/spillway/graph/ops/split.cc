#include <algorithm>
#include <cstring>
#include <numeric>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

constexpr std::int64_t kMostParts = 1 << 20;  // outputs of one node

// The size of each part; kUnknownDim where it cannot be told from `dim`.
Result<std::vector<std::int64_t>> sizes_of(const Attrs& attrs, int axis, std::int64_t dim) {
  if (const auto* num = attrs.get<std::int64_t>("num")) {
    if (*num <= 0) return invalid_argument("Number of ways to split should be > 0, but got ", *num);
    if (*num > kMostParts) return invalid_argument("num must be at most ", kMostParts, ": ", *num);
    if (dim >= 0 && dim % *num != 0) {
      return wrong_shape("Number of ways to split should evenly divide the split dimension, but ",
                         "got split_dim ", axis, " (size = ", dim, ") and num_split ", *num);
    }
    return std::vector<std::int64_t>(static_cast<std::size_t>(*num), dim < 0 ? dim : dim / *num);
  }
  auto sizes = attrs.get_or<std::vector<std::int64_t>>("num_or_size_splits", {});
  if (sizes.empty()) return invalid_argument("needs num or the sizes of the parts");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < -1) {
      return invalid_argument("Split size at index ", i, " must be >= 0. Got: ", sizes[i]);
    }
  }
  const auto open = std::count(sizes.begin(), sizes.end(), kUnknownDim);
  if (open > 1) return invalid_argument("There can only be one -1 in the input.");
  const std::int64_t sum = std::accumulate(sizes.begin(), sizes.end(), open);
  if (dim >= 0 && (open == 0 ? sum != dim : sum > dim)) {
    return wrong_shape("Determined shape must either match input shape along split_dim exactly if ",
                       "fully specified, or be less than the size of the input along split_dim if ",
                       "not fully specified.  Got: ", sum, " of ", dim);
  }
  if (open == 1 && dim >= 0) *std::find(sizes.begin(), sizes.end(), kUnknownDim) = dim - sum;
  return sizes;
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  const std::int64_t given = c.attrs().get_or<std::int64_t>("axis", 0);
  int axis = static_cast<int>(given);
  if (in.has_rank()) {
    if (given < -in.rank() || given >= in.rank()) {
      return invalid_argument("-input rank(-", in.rank(), ") <= split_dim < input rank (",
                              in.rank(), "), but got ", given);
    }
    if (axis < 0) axis += in.rank();
  }
  SW_ASSIGN(const std::vector<std::int64_t> sizes,
            sizes_of(c.attrs(), axis, in.has_rank() ? in[axis] : kUnknownDim));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Shape shape = in;
    if (in.has_rank()) {
      std::vector<std::int64_t> dims = dims_of(in);
      dims[static_cast<std::size_t>(axis)] = sizes[i];
      shape = shape_of(dims);
    }
    c.set(static_cast<int>(i), c.input(0).dtype, std::move(shape));
  }
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  SW_ASSIGN(const int axis, resolve_axis(p.attrs.get_or<std::int64_t>("axis", 0), in.rank()));
  const AxisView view(in, axis);
  std::vector<std::size_t> runs;
  for (const Spec& out : p.outputs) {
    runs.push_back(static_cast<std::size_t>(out.shape[axis] * view.inner) * size_of(out.dtype));
  }
  return make_kernel([=](const std::byte* const* from, std::byte* const* to, std::byte*) {
    const std::byte* next = from[0];
    Mover mover;
    for (std::int64_t o = 0; o < view.outer; ++o) {
      for (std::size_t i = 0; i < runs.size(); ++i) {
        std::byte* const part = to[i] + static_cast<std::size_t>(o) * runs[i];
        if (!mover.copy(part, next, runs[i])) return Status();
        next += runs[i];
      }
    }
    return Status();
  });
}

// `num` equal parts, or parts of the sizes given (one of them may be -1: what is left).
constexpr ParamDef kParams[] = {{"value", ParamKind::kTensor},
                                {"num_or_size_splits", ParamKind::kInts, "None"},
                                {"axis", ParamKind::kInt, "0"},
                                {"num", ParamKind::kInt, "None"}};

}  // namespace

extern constexpr OpDef split_op{.name = "split",
                                .summary = "A tensor cut into parts along an axis.",
                                .params = kParams,
                                .outputs = -1,
                                .infer = infer,
                                .prepare = prepare};
extern constexpr OpDef split_strings_op = string_twin<split_op>("split_strings");

}  // namespace spillway::graph
