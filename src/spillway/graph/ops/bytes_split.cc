#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status one_only(const Shape& shape) {
  if (!shape.has_rank() || shape.rank() == 0) return {};
  return invalid_argument("splits one string, not a tensor of shape ", shape.bracketed());
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  SW_RETURN_IF_ERROR(one_only(c.input(0).shape));
  c.set(0, DType::kString, Shape({kUnknownDim}));
  return {};
}

Status compute(Compute& c) {
  SW_RETURN_IF_ERROR(one_only(c.inputs[0].shape()));
  const std::string_view text = c.inputs[0].string_at(0);
  std::vector<std::string_view> bytes;
  bytes.reserve(text.size());
  in_stretches(static_cast<std::int64_t>(text.size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      bytes.push_back(text.substr(static_cast<std::size_t>(i), 1));
    }
  });
  if (given_up()) return cancelled();
  SW_ASSIGN(Tensor out, c.strings(Shape({static_cast<std::int64_t>(bytes.size())}), bytes));
  c.outputs.push_back(std::move(out));
  return {};
}

}  // namespace

extern constexpr OpDef bytes_split_op{.name = "bytes_split",
                                      .summary = "The bytes of one string, each a string.",
                                      .params = kStringParams,
                                      .infer = infer,
                                      .compute = compute};

}  // namespace spillway::graph
