#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  if (!is_integer(c.input(1).dtype)) return no_kernel(c.input(1).dtype);
  const Shape& in = c.input(0).shape;
  const Shape& lengths = c.input(1).shape;
  if (lengths.has_rank() && lengths.rank() != 1) {
    return wrong_shape("seq_lengths must be 1-dim, not ", lengths.rank());
  }
  if (in.has_rank()) {
    SW_ASSIGN(const int seq,
              resolve_axis(c.attrs().get_or<std::int64_t>("seq_axis", 0), in.rank()));
    SW_ASSIGN(const int batch,
              resolve_axis(c.attrs().get_or<std::int64_t>("batch_axis", 0), in.rank()));
    if (seq == batch) return invalid_argument("batch_dim == seq_dim == ", seq);
    if (lengths.has_rank() && lengths[0] >= 0 && in[batch] >= 0 && lengths[0] != in[batch]) {
      return wrong_shape("Length of seq_lengths != input.dims(", batch, "), (", lengths[0], " vs. ",
                         in[batch], ")");
    }
  }
  c.set(0, c.input(0).dtype, in);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  SW_ASSIGN(const int seq, resolve_axis(p.attrs.get_or<std::int64_t>("seq_axis", 0), in.rank()));
  SW_ASSIGN(const int batch,
            resolve_axis(p.attrs.get_or<std::int64_t>("batch_axis", 0), in.rank()));
  const AxisView along(in, seq);
  const AxisView across(in, batch);
  const std::size_t item = size_of(p.inputs[0].dtype);
  const std::int64_t count = in.count();
  const DType type = p.inputs[1].dtype;
  return make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
    for (std::int64_t b = 0; b < across.axis; ++b) {
      const std::int64_t length = integer_at(type, src[1], b);
      if (length < 0 || length > along.axis) {
        return bad_data(Code::kInvalidArgument, "seq_lens(", b, ") must be in [0, ", along.axis,
                        "]: ", length);
      }
    }
    Looks looks;
    for (std::int64_t i = 0; i < count && !looks.abandoned(); ++i) {
      const std::int64_t place = i / along.inner % along.axis;
      const std::int64_t length = integer_at(type, src[1], i / across.inner % across.axis);
      const std::int64_t from = place < length ? i + (length - 1 - 2 * place) * along.inner : i;
      std::memcpy(dst[0] + static_cast<std::size_t>(i) * item,
                  src[0] + static_cast<std::size_t>(from) * item, item);
    }
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"seq_lengths", ParamKind::kTensor, "", 'n'},
                                {"seq_axis", ParamKind::kInt, "None"},
                                {"batch_axis", ParamKind::kInt, "None"}};

}  // namespace

extern constexpr OpDef reverse_sequence_op{
    .name = "reverse_sequence",
    .summary = "The first items of each row in reverse order, as many as its length says.",
    .params = kParams,
    .paths = "reverse_sequence",
    .effect = Effect::kFallible,
    .infer = infer,
    .prepare = prepare};
extern constexpr OpDef reverse_sequence_strings_op =
    string_twin<reverse_sequence_op>("reverse_sequence_strings");

}  // namespace spillway::graph
