#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  const auto given = c.attrs().get_or<std::vector<std::int64_t>>("axis", {});
  if (in.rank() == 0) return wrong_shape("input must be 1-D or higher");
  for (std::size_t i = 0; i < given.size() && in.has_rank(); ++i) {
    SW_ASSIGN([[maybe_unused]] const int axis, resolve_axis(given[i], in.rank()));
  }
  const Shape& shift = c.input(1).shape;
  const bool fits =
      shift.rank() == 0
          ? given.size() == 1
          : !shift.fully_known() || shift == Shape({static_cast<std::int64_t>(given.size())});
  if (shift.has_rank() && !fits) {
    return wrong_shape("shift and axis must have the same size: ", shift.bracketed(), " and ",
                       given.size());
  }
  c.set(0, c.input(0).dtype, in);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape shape = p.inputs[0].shape;
  const DType type = p.inputs[1].dtype;
  const std::size_t item = size_of(p.inputs[0].dtype);
  std::vector<int> axes;
  for (const std::int64_t given : p.attrs.get_or<std::vector<std::int64_t>>("axis", {})) {
    SW_ASSIGN(const int axis, resolve_axis(given, shape.rank()));
    axes.push_back(axis);
  }
  const std::size_t bytes = static_cast<std::size_t>(shape.count()) * item;
  return make_kernel(
      [=](const std::byte* const* in, std::byte* const* out, std::byte* scratch) {
        if (bytes == 0) return Status();
        // One axis after the other, so that the last lands in the output.
        Mover mover;
        const std::byte* from = in[0];
        for (std::size_t a = 0; a < axes.size(); ++a) {
          const AxisView view(shape, axes[a]);
          const std::int64_t by = integer_at(type, in[1], static_cast<std::int64_t>(a));
          const std::int64_t shift = (by % view.axis + view.axis) % view.axis;
          const std::size_t run = static_cast<std::size_t>(view.axis * view.inner) * item;
          const std::size_t tail = static_cast<std::size_t>(shift * view.inner) * item;
          std::byte* to = (axes.size() - a) % 2 == 1 ? out[0] : scratch;
          for (std::size_t at = 0; at < bytes; at += run) {
            if (!mover.copy(to + at, from + at + run - tail, tail)) return Status();
            if (!mover.copy(to + at + tail, from + at, run - tail)) return Status();
          }
          from = to;
        }
        if (axes.empty()) mover.copy(out[0], from, bytes);
        return Status();
      },
      axes.size() > 1 ? bytes : 0);
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"shift", ParamKind::kTensor, "", 'n'},
                                {"axis", ParamKind::kInts}};

}  // namespace

extern constexpr OpDef roll_op{.name = "roll",
                               .summary = "The items moved along axes; what falls off comes back.",
                               .params = kParams,
                               .paths = "roll",
                               .infer = infer,
                               .prepare = prepare};
extern constexpr OpDef roll_strings_op = string_twin<roll_op>("roll_strings");

}  // namespace spillway::graph
