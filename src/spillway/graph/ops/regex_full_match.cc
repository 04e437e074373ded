#include "spillway/graph/regex.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 1));
  const Shape& shape = c.input(1).shape;
  if (shape.has_rank() && shape.rank() != 0) {
    return invalid_argument("Pattern must be scalar, but received ", shape.bracketed());
  }
  if (const Tensor* pattern = c.constant(1)) {
    if (auto regex = compiled(*pattern); !regex.ok()) return std::move(regex).status();
  }
  return infer_string_test(c);
}

Status compute(Compute& c) {
  SW_ASSIGN(const RE2* const regex, compiled(c.inputs[1]));
  return measure_strings<bool>(
      c, DType::kBool, [&](std::string_view item) { return RE2::FullMatch(piece(item), *regex); });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                {"pattern", ParamKind::kTensor, "", 's'}};

}  // namespace

extern constexpr OpDef regex_full_match_op{
    .name = "regex_full_match",
    .summary = "Whether a regular expression (RE2) matches the whole of each string.",
    .params = kParams,
    .paths = "strings.regex_full_match",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute,
    .per_item = true};

}  // namespace spillway::graph
