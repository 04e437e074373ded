#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_string_pair(c, DType::kString); }

Status compute(Compute& c) {
  const Tensor& x = c.inputs[0];
  const Tensor& y = c.inputs[1];
  const auto shape = broadcast(x.shape(), y.shape());
  if (!shape) return incompatible(x.shape(), y.shape());
  const BroadcastIndex at_x(x.shape(), *shape);
  const BroadcastIndex at_y(y.shape(), *shape);
  const std::int64_t n = shape->count();
  StringRun run(n);
  Looks looks;
  for (std::int64_t i = 0; i < n && !looks.abandoned(); ++i) {
    run.text() += x.string_at(at_x(i));
    run.add(y.string_at(at_y(i)));
  }
  SW_ASSIGN(Tensor out, run.finish(c, *shape));
  c.outputs.push_back(std::move(out));
  return {};
}

}  // namespace

extern constexpr OpDef string_add_op{.name = "string_add",
                                     .summary = "x followed by y, item by item.",
                                     .params = kStringPairParams,
                                     .infer = infer,
                                     .compute = compute,
                                     .per_item = true};

}  // namespace spillway::graph
