#include "spillway/front/describe_operator.h"

#include <algorithm>
#include <vector>

namespace spillway {
namespace {

using Lines = std::vector<std::vector<std::string>>;

// Columns padded to their widest cell; the last one is left as it is.
std::string table(const Lines& lines, const std::string& indent) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  std::string text;
  for (const auto& line : lines) {
    text += indent;
    for (std::size_t c = 0; c + 1 < line.size(); ++c) {
      text += line[c] + std::string(widths[c] - line[c].size() + 2, ' ');
    }
    text += line.back() + "\n";
  }
  return text;
}

std::string signature(const OperatorDef& def) {
  std::string text(def.name);
  text += '(';
  for (const ParamDef& param : def.params.own()) {
    if (text.back() != '(') text += ", ";
    text += param.name;
    if (!param.fallback.empty()) text.append("=").append(param.fallback);
  }
  return text + ")";
}

}  // namespace

std::string describe_operators() {
  Lines lines;
  for (const OperatorDef* def : all_operators()) {
    if (!def->hidden) lines.push_back({std::string(def->name), std::string(def->summary)});
  }
  std::ranges::sort(lines);
  return table(lines, "");
}

std::string describe_operator(const OperatorDef& def) {
  std::string text = signature(def) + "\n\n" + std::string(def.summary) + "\n";
  Lines lines;
  for (const ParamDef& param : def.params.own()) {
    std::string type(to_string(param.type));
    if (!param.fallback.empty()) type.append(" = ").append(param.fallback);
    lines.push_back({std::string(param.name), type,
                     std::string(param.doc) + (param.tuning ? " (never changes results)" : "")});
  }
  if (!lines.empty()) text += "\n" + table(lines, "  ");
  if (!def.params.policy().empty()) {
    text += "\n  and for elements that fail:";
    for (const ParamDef& param : def.params.policy()) text.append(" ").append(param.name);
    text += '\n';
  }
  if (!def.example.empty()) {
    text += "\n  ";
    for (const char c : def.example) text += c == '\n' ? std::string("\n  ") : std::string(1, c);
    text += '\n';
  }
  return text;
}

}  // namespace spillway
