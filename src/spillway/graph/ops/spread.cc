#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

// broadcast_to and fill where the shape is known: a loop, so that the items are made where they are
// used and take no memory before.
namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape* to = c.attrs().get<Shape>("shape");
  if (to == nullptr || !to->has_rank() || !to->fully_known()) {
    return invalid_argument("needs a shape that is known");
  }
  const auto both = broadcast(c.input(0).shape, *to);
  if (!both || (both->has_rank() && !(*both == *to))) {
    return wrong_shape("Incompatible shapes: ", c.input(0).shape.bracketed(), " vs. ",
                       to->bracketed());
  }
  c.set(0, c.input(0).dtype, *to);
  return {};
}

template <std::size_t kBytes>
std::int64_t copy(const LoopArgs& args) {
  std::memcpy(args.out, args.in[0], static_cast<std::size_t>(args.n) * kBytes);
  return -1;
}

Result<Loop> loop(const Prepare& p) {
  Loop loop;
  switch (size_of(p.inputs[0].dtype)) {
    case 1:
      loop.fn = copy<1>;
      break;
    case 2:
      loop.fn = copy<2>;
      break;
    case 4:
      loop.fn = copy<4>;
      break;
    case 8:
      loop.fn = copy<8>;
      break;
    default:
      loop.fn = copy<16>;
  }
  return loop;
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor}, {"shape", ParamKind::kShape}};

}  // namespace

extern constexpr OpDef spread_op{.name = "spread",
                                 .summary = "The items repeated up to a shape that is known.",
                                 .params = kParams,
                                 .infer = infer,
                                 .loop = loop};
extern constexpr OpDef spread_strings_op = string_twin<spread_op>("spread_strings");

}  // namespace spillway::graph
