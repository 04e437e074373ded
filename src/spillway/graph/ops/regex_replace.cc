#include "spillway/graph/regex.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  for (const int i : {1, 2}) {
    SW_RETURN_IF_ERROR(need_strings(c, i));
    const Shape& shape = c.input(i).shape;
    if (shape.has_rank() && shape.rank() != 0) {
      return invalid_argument(i == 1 ? "Pattern" : "Rewrite", " must be scalar, but received ",
                              shape.bracketed());
    }
  }
  if (const Tensor* pattern = c.constant(1)) {
    if (auto regex = compiled(*pattern); !regex.ok()) return std::move(regex).status();
  }
  return infer_string_map(c);
}

Status compute(Compute& c) {
  SW_ASSIGN(const RE2* const regex, compiled(c.inputs[1]));
  if (c.inputs[2].shape().rank() != 0) {
    return invalid_argument("Rewrite must be scalar, but received ",
                            c.inputs[2].shape().bracketed());
  }
  const re2::StringPiece rewrite = piece(c.inputs[2].string_at(0));
  const bool global = c.attrs.get_or("replace_global", true);
  std::string item;
  return map_strings(c, [&](std::string_view from, std::string& text) -> Status {
    item.assign(from);
    if (global) {
      RE2::GlobalReplace(&item, *regex, rewrite);
    } else {
      RE2::Replace(&item, *regex, rewrite);
    }
    text += item;
    return {};
  });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                {"pattern", ParamKind::kTensor, "", 's'},
                                {"rewrite", ParamKind::kTensor, "", 's'},
                                {"replace_global", ParamKind::kBool, "True"}};

}  // namespace

extern constexpr OpDef regex_replace_op{
    .name = "regex_replace",
    .summary = "Strings with what a regular expression (RE2) matches replaced.",
    .params = kParams,
    .paths = "strings.regex_replace",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute,
    .per_item = true};

}  // namespace spillway::graph
