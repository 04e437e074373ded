#pragma once

#include "spillway/graph/strings.h"
#include "spillway/graph/unicode_case.h"

namespace spillway::graph {

inline Status infer_string_case(Infer& c) {
  const std::string encoding = c.attrs().get_or("encoding", std::string());
  if (!encoding.empty() && encoding != "utf-8") {
    return invalid_argument("only utf-8 or '' (no encoding) is supported, received ", encoding);
  }
  return infer_string_map(c);
}

// Without an encoding only ASCII letters change.
template <char kFirst, char kLast, void (*kUnicode)(std::string_view, std::string&)>
Status change_case(Compute& c) {
  const bool unicode = !c.attrs.get_or("encoding", std::string()).empty();
  return map_strings(c, [&](std::string_view item, std::string& text) -> Status {
    if (unicode) {
      kUnicode(item, text);
      return {};
    }
    for (const char letter : item) {
      const bool flips = letter >= kFirst && letter <= kLast;
      text += static_cast<char>(flips ? letter ^ 0x20 : letter);
    }
    return {};
  });
}

inline constexpr ParamDef kStringCaseParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                                 {"encoding", ParamKind::kString, "''"}};

}  // namespace spillway::graph
