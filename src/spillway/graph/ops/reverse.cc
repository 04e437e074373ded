#include "spillway/graph/reversal.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  if (in.has_rank()) {
    SW_ASSIGN([[maybe_unused]] const auto axes, reversed_axes(c.attrs(), in.rank()));
  }
  c.set(0, c.input(0).dtype, in);
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  SW_ASSIGN(const std::vector<int> axes, reversed_axes(p.attrs, p.inputs[0].shape.rank()));
  const Reversal reversal(p.inputs[0], axes);
  return make_kernel([=](const std::byte* const* src, std::byte* const* dst, std::byte*) {
    reversal.copy(src[0], dst[0]);
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"tensor", ParamKind::kTensor}, {"axis", ParamKind::kInts}};

}  // namespace

extern constexpr OpDef reverse_op{.name = "reverse",
                                  .summary = "The items in reverse order along axes.",
                                  .params = kParams,
                                  .paths = "reverse",
                                  .infer = infer,
                                  .prepare = prepare};
extern constexpr OpDef reverse_strings_op = string_twin<reverse_op>("reverse_strings");

}  // namespace spillway::graph
