#include <algorithm>
#include <cstring>
#include <numeric>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"
#include "spillway/tensor/extent.h"

namespace spillway::graph {
namespace {

// How often each place of an axis comes. Of one number for each place a negative one is zero, as
// in TensorFlow; one number for all must not be negative.
Result<std::vector<std::int64_t>> repeats_of(const Tensor& value, std::int64_t size) {
  std::vector<std::int64_t> repeats = integers_of(value);
  const auto given = static_cast<std::int64_t>(repeats.size());
  if (given == 1 && repeats[0] < 0) {
    return invalid_argument("repeats must be non-negative, got ", repeats[0]);
  }
  for (std::int64_t& times : repeats) times = std::max<std::int64_t>(times, 0);
  if (given != 1 && size >= 0 && given != size) {
    return wrong_shape("repeats must have one value, or one for each of the ", size,
                       " places of the axis: ", given);
  }
  return repeats;
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  if (!is_integer(c.input(1).dtype)) return no_kernel(c.input(1).dtype);
  if (c.input(1).shape.rank() > 1) {
    return wrong_shape("repeats must be a number or a vector: ", c.input(1).shape.bracketed());
  }
  const Shape& in = c.input(0).shape;
  const bool flat = !c.attrs().has("axis");
  if (!in.has_rank()) {
    const Tensor* value = c.constant(1);
    const bool never = value != nullptr && integers_of(*value) == std::vector<std::int64_t>{0};
    c.set(0, c.input(0).dtype, flat ? Shape({never ? 0 : kUnknownDim}) : in);
    return {};
  }
  const bool known = in.fully_known();
  std::vector<std::int64_t> dims =
      flat ? std::vector<std::int64_t>{known ? in.count() : kUnknownDim} : dims_of(in);
  int axis = 0;
  if (!flat) {
    SW_ASSIGN(axis, resolve_axis(c.attrs().get_or<std::int64_t>("axis", 0), in.rank()));
  }
  std::int64_t& size = dims[static_cast<std::size_t>(axis)];
  if (const Tensor* value = c.constant(1)) {
    SW_ASSIGN(const std::vector<std::int64_t> repeats, repeats_of(*value, size));
    if (repeats.size() != 1) {
      size = std::accumulate(repeats.begin(), repeats.end(), std::int64_t{0}, saturated_sum);
    } else if (size >= 0 || repeats[0] == 0) {
      size = repeats[0] == 0 ? 0 : saturated_product(size, repeats[0]);
    }
  } else if (size != 0) {
    size = kUnknownDim;
  }
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Status compute(Compute& c) {
  const Tensor in =
      c.attrs.has("axis") ? c.inputs[0] : c.inputs[0].reshaped(Shape({c.inputs[0].count()}));
  SW_ASSIGN(const int axis,
            resolve_axis(c.attrs.get_or<std::int64_t>("axis", 0), in.shape().rank()));
  const AxisView view(in.shape(), axis);
  SW_ASSIGN(std::vector<std::int64_t> repeats, repeats_of(c.inputs[1], view.axis));
  if (repeats.size() == 1) repeats.resize(static_cast<std::size_t>(view.axis), repeats[0]);
  std::vector<std::int64_t> dims = dims_of(in.shape());
  dims[static_cast<std::size_t>(axis)] =
      std::accumulate(repeats.begin(), repeats.end(), std::int64_t{0}, saturated_sum);
  SW_ASSIGN(Tensor out, c.make(in.dtype(), shape_of(dims)));
  const std::size_t run = static_cast<std::size_t>(view.inner) * size_of(in.dtype());
  const std::byte* from = in.data();
  std::byte* to = out.mutable_data();
  Mover mover;
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (const std::int64_t times : repeats) {
      for (std::int64_t i = 0; i < times; ++i, to += run) {
        if (!mover.copy(to, from, run)) return {};
      }
      from += run;
    }
  }
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"repeats", ParamKind::kTensor, "", 'R'},
                                {"axis", ParamKind::kInt, "None"}};

}  // namespace

extern constexpr OpDef repeat_op{.name = "repeat",
                                 .summary = "Each part along an axis several times.",
                                 .params = kParams,
                                 .paths = "repeat",
                                 .effect = Effect::kFallible,
                                 .infer = infer,
                                 .compute = compute};
extern constexpr OpDef repeat_strings_op = string_twin<repeat_op>("repeat_strings");

}  // namespace spillway::graph
