#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status bad_begin(int axis, std::int64_t dim, std::int64_t begin) {
  return invalid_argument("Expected begin[", axis, "] in [0, ", dim, "], but got ", begin);
}
Status bad_size(int axis, std::int64_t most, std::int64_t size) {
  return invalid_argument("Expected size[", axis, "] in [0, ", most, "], but got ", size);
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  std::int64_t rank = in.rank();
  for (int i = 1; i < 3; ++i) {
    const Shape& shape = c.input(i).shape;
    if (!shape.has_rank()) continue;
    const bool fits = shape.rank() == 1 && (rank < 0 || shape[0] < 0 || shape[0] == rank);
    if (!fits) {
      return invalid_argument("Expected begin and size arguments to be 1-D tensors of size ", rank,
                              ", but got shapes ", c.input(1).shape.bracketed(), " and ",
                              c.input(2).shape.bracketed(), " instead.");
    }
    if (rank < 0) rank = shape[0];
  }
  if (rank < 0) {
    c.set(0, c.input(0).dtype, Shape::unknown_rank());
    return {};
  }
  const Tensor* begins = c.constant(1);
  const Tensor* sizes = c.constant(2);
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), kUnknownDim);
  for (int i = 0; i < rank; ++i) {
    std::int64_t& dim = dims[static_cast<std::size_t>(i)];
    const std::int64_t whole = in.has_rank() ? in[i] : kUnknownDim;
    if (sizes == nullptr) {
      if (c.as_shape(2) && c.as_shape(2)->rank() == rank) dim = (*c.as_shape(2))[i];
      continue;
    }
    const std::int64_t size = integer_at(sizes->dtype(), sizes->data(), i);
    if (size < -1) return bad_size(i, whole, size);
    if (begins == nullptr) {
      dim = size;
      continue;
    }
    const std::int64_t begin = integer_at(begins->dtype(), begins->data(), i);
    if (begin < 0 || (whole >= 0 && begin > whole)) return bad_begin(i, whole, begin);
    if (whole >= 0 && size > whole - begin) return bad_size(i, whole - begin, size);
    dim = size >= 0 ? size : whole < 0 ? kUnknownDim : whole - begin;
  }
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const std::vector<std::int64_t> whole = dims_of(p.inputs[0].shape);
  const std::vector<std::int64_t> sizes = dims_of(p.outputs[0].shape);
  const std::size_t item = size_of(p.inputs[0].dtype);
  const std::vector<std::int64_t> from = byte_strides(p.inputs[0].shape, item);
  const std::vector<std::int64_t> to = byte_strides(p.outputs[0].shape, item);
  Box box(item);
  for (std::size_t i = 0; i < whole.size(); ++i) box.axis(sizes[i], from[i], to[i]);
  const DType type = p.inputs[1].dtype;
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const int axis = static_cast<int>(i);
      const std::int64_t begin = integer_at(type, in[1], axis);
      if (begin < 0 || begin > whole[i]) return bad_begin(axis, whole[i], begin);
      if (sizes[i] > whole[i] - begin) return bad_size(axis, whole[i] - begin, sizes[i]);
      first += begin * from[i];
    }
    box.copy(in[0] + first, out[0]);
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"input_", ParamKind::kTensor},
                                {"begin", ParamKind::kTensor, "", 'n'},
                                {"size", ParamKind::kTensor, "", 'n'}};

}  // namespace

extern constexpr OpDef slice_op{.name = "slice",
                                .summary = "The box of `size` items that starts at `begin`.",
                                .params = kParams,
                                .paths = "slice",
                                .infer = infer,
                                .prepare = prepare};
extern constexpr OpDef slice_strings_op = string_twin<slice_op>("slice_strings");

}  // namespace spillway::graph
