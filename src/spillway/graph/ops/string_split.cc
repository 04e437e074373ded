#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  if (c.input(0).shape.has_rank() && c.input(0).shape.rank() != 0) {
    return invalid_argument("splits one string, not a tensor of shape ",
                            c.input(0).shape.bracketed());
  }
  c.set(0, DType::kString, Shape({kUnknownDim}));
  return {};
}

// Runs of white space separate, and those at the ends count for nothing. After `most` parts comes
// what is left, be it nothing.
std::vector<std::string_view> split_at_spaces(std::string_view text, std::int64_t most) {
  std::vector<std::string_view> parts;
  Looks looks;
  while (true) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) break;
    if (text.empty()) return parts;
    if (looks.abandoned()) return parts;
    std::size_t end = 0;
    while (end < text.size() && !is_space(text[end])) ++end;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator,
                                       std::int64_t most) {
  std::vector<std::string_view> parts;
  Looks looks;
  while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
    if (looks.abandoned()) return parts;
    const std::size_t at = text.find(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

Status compute(Compute& c) {
  const std::string separator = c.attrs.get_or("sep", std::string());
  const std::int64_t most = c.attrs.get_or("maxsplit", std::int64_t{-1});
  if (c.inputs[0].shape().rank() != 0) {
    return invalid_argument("splits one string, not a tensor of shape ",
                            c.inputs[0].shape().bracketed());
  }
  const std::string_view text = c.inputs[0].string_at(0);
  std::vector<std::string_view> parts;
  if (most == 0) {
    parts.push_back(text);
  } else {
    parts = separator.empty() ? split_at_spaces(text, most) : split_at(text, separator, most);
  }
  if (given_up()) return cancelled();
  SW_ASSIGN(Tensor out, c.strings(Shape({static_cast<std::int64_t>(parts.size())}), parts));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                {"sep", ParamKind::kString, "None"},
                                {"maxsplit", ParamKind::kInt, "-1"}};

}  // namespace

extern constexpr OpDef string_split_op{
    .name = "string_split",
    .summary = "The parts of one string between separators; without one: between white space.",
    .params = kParams,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
