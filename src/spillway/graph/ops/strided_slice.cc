#include <algorithm>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

// What an index says of one input axis.
struct Axis {
  int entry = -1;  // of begin, end and strides; -1: the axis is taken whole
  bool shrink = false;
  bool begin_masked = true;
  bool end_masked = true;
  std::int64_t stride = 1;
};
struct Index {
  std::vector<Axis> axes;  // one an input axis
  std::vector<int> order;  // the output's axes: an input axis, or kNew
  static constexpr int kNew = -1;
};

bool bit(const Attrs& attrs, std::string_view mask, std::int64_t i) {
  return i < 63 && (static_cast<std::uint64_t>(attrs.get_or<std::int64_t>(mask, 0)) >> i & 1U) != 0;
}

Result<Index> read_index(const Attrs& attrs, int rank, std::int64_t entries,
                         const std::vector<std::int64_t>& strides) {
  std::int64_t after = 0;  // entries behind the ellipsis that take an axis
  bool ellipsis = false;
  for (std::int64_t i = 0; i < entries; ++i) {
    if (bit(attrs, "ellipsis_mask", i)) {
      if (ellipsis) return invalid_argument("Multiple ellipses in slice spec not allowed");
      ellipsis = true;
    } else if (ellipsis && !bit(attrs, "new_axis_mask", i)) {
      ++after;
    }
  }
  Index index;
  const auto whole = [&] {
    index.order.push_back(static_cast<int>(index.axes.size()));
    index.axes.push_back({});
  };
  for (std::int64_t i = 0; i < entries; ++i) {
    const int at = static_cast<int>(index.axes.size());
    if (bit(attrs, "ellipsis_mask", i)) {
      while (static_cast<std::int64_t>(index.axes.size()) < rank - after) whole();
    } else if (bit(attrs, "new_axis_mask", i)) {
      index.order.push_back(Index::kNew);
    } else {
      if (at == rank) {
        return invalid_argument("Index out of range using input dim ", at, "; input has only ",
                                rank, " dims");
      }
      Axis axis{static_cast<int>(i), bit(attrs, "shrink_axis_mask", i), bit(attrs, "begin_mask", i),
                bit(attrs, "end_mask", i), strides[static_cast<std::size_t>(i)]};
      if (axis.stride == 0) return invalid_argument("strides[", i, "] must be non-zero");
      if (axis.shrink && axis.stride < 0) {
        return invalid_argument("only stride 1 allowed on non-range indexing.");
      }
      if (!axis.shrink) index.order.push_back(at);
      index.axes.push_back(axis);
    }
  }
  while (static_cast<int>(index.axes.size()) < rank) whole();
  return index;
}

Status outside(std::int64_t at, int axis) {
  return invalid_argument("slice index ", at, " of dimension ", axis, " out of bounds.");
}

// Where a range begins, and how many items it takes. `begin` and `end` count where not masked.
struct Range {
  std::int64_t begin;
  std::int64_t size;
};
Range range_of(const Axis& axis, std::int64_t dim, std::int64_t begin, std::int64_t end) {
  const bool forward = axis.stride > 0;
  const std::int64_t low = forward ? 0 : -1;
  const std::int64_t high = forward ? dim : dim - 1;
  const auto place = [&](std::int64_t at) { return std::clamp(at < 0 ? at + dim : at, low, high); };
  const std::int64_t first = axis.begin_masked ? (forward ? low : high) : place(begin);
  const std::int64_t last = axis.end_masked ? (forward ? high : low) : place(end);
  const std::int64_t length = forward ? last - first : first - last;
  const std::int64_t step = forward ? axis.stride : -axis.stride;
  return {first, length <= 0 ? 0 : (length - 1) / step + 1};
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  const Tensor* begin = c.constant(1);
  const Tensor* end = c.constant(2);
  const Tensor* strides = c.constant(3);
  for (int i = 1; i < 4; ++i) {
    const Shape& shape = c.input(i).shape;
    if (shape.has_rank() && shape.rank() != 1) {
      return invalid_argument("begin, end and strides must be vectors: ", shape.bracketed());
    }
    if (!shape.compatible(c.input(3).shape)) {
      return invalid_argument("begin, end and strides must have equal sizes: ", shape.bracketed(),
                              " and ", c.input(3).shape.bracketed());
    }
  }
  if (!in.has_rank() || strides == nullptr) {
    c.set(0, c.input(0).dtype, Shape::unknown_rank());
    return {};
  }
  SW_ASSIGN(const Index index,
            read_index(c.attrs(), in.rank(), strides->count(), integers_of(*strides)));
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < index.axes.size(); ++i) {
    const Axis& axis = index.axes[i];
    const std::int64_t dim = in[static_cast<int>(i)];
    const bool valued = begin != nullptr && end != nullptr && axis.entry >= 0;
    const std::int64_t from = valued ? integer_at(begin->dtype(), begin->data(), axis.entry) : 0;
    const std::int64_t to = valued ? integer_at(end->dtype(), end->data(), axis.entry) : 0;
    if (dim != kUnknownDim && axis.shrink) {
      const std::int64_t at = from < 0 ? from + dim : from;
      if (valued && (at < 0 || at >= dim)) return outside(at, static_cast<int>(i));
      sizes.push_back(1);
    } else if (dim != kUnknownDim && (valued || (axis.begin_masked && axis.end_masked))) {
      sizes.push_back(range_of(axis, dim, from, to).size);
    } else {
      sizes.push_back(kUnknownDim);
    }
  }
  std::vector<std::int64_t> dims;
  dims.reserve(index.order.size());
  for (const int at : index.order) {
    dims.push_back(at == Index::kNew ? 1 : sizes[static_cast<std::size_t>(at)]);
  }
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  const Tensor* begin = p.constants[1];
  const Tensor* end = p.constants[2];
  if (p.constants[3] == nullptr) return internal_bug("strides must be known");
  const std::size_t item = size_of(p.inputs[0].dtype);
  SW_ASSIGN(const Index index,
            read_index(p.attrs, in.rank(), p.constants[3]->count(), integers_of(*p.constants[3])));
  const std::vector<std::int64_t> steps = byte_strides(in, item);
  struct Pick {  // an axis whose index comes with the call
    int axis;
    std::int64_t entry;
    std::int64_t dim;
    std::int64_t stride;
  };
  std::vector<Pick> picks;
  std::int64_t offset = 0;
  Box box(item);
  std::int64_t to = static_cast<std::int64_t>(item) * p.outputs[0].shape.count();
  for (std::size_t i = 0; i < index.axes.size(); ++i) {
    const Axis& axis = index.axes[i];
    const std::int64_t dim = in[static_cast<int>(i)];
    if (axis.shrink) {
      picks.push_back({static_cast<int>(i), axis.entry, dim, steps[i]});
      continue;
    }
    const bool valued = begin != nullptr && end != nullptr && axis.entry >= 0;
    const Range range =
        range_of(axis, dim, valued ? integer_at(begin->dtype(), begin->data(), axis.entry) : 0,
                 valued ? integer_at(end->dtype(), end->data(), axis.entry) : 0);
    offset += range.begin * steps[i];
    to /= std::max<std::int64_t>(1, range.size);
    box.axis(range.size, steps[i] * axis.stride, to);
  }
  const DType type = p.inputs[1].dtype;
  return make_kernel([=](const std::byte* const* from, std::byte* const* out, std::byte*) {
    std::int64_t first = offset;
    for (const Pick& pick : picks) {
      const std::int64_t given = integer_at(type, from[1], pick.entry);
      const std::int64_t at = given < 0 ? given + pick.dim : given;
      if (at < 0 || at >= pick.dim) return outside(at, pick.axis);
      first += at * pick.stride;
    }
    box.copy(from[0] + first, out[0]);
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"input_", ParamKind::kTensor},
                                {"begin", ParamKind::kTensor, "", 'n'},
                                {"end", ParamKind::kTensor, "", 'n'},
                                {"strides", ParamKind::kTensor, "", 'n'},
                                {"begin_mask", ParamKind::kInt, "0"},
                                {"end_mask", ParamKind::kInt, "0"},
                                {"ellipsis_mask", ParamKind::kInt, "0"},
                                {"new_axis_mask", ParamKind::kInt, "0"},
                                {"shrink_axis_mask", ParamKind::kInt, "0"}};

}  // namespace

extern constexpr OpDef strided_slice_op{.name = "strided_slice",
                                        .summary = "A part of a tensor, as Python's slices say it.",
                                        .params = kParams,
                                        .infer = infer,
                                        .prepare = prepare};
extern constexpr OpDef strided_slice_strings_op =
    string_twin<strided_slice_op>("strided_slice_strings");

}  // namespace spillway::graph
