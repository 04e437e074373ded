#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

int value_of(char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52;
  return letter == '-' ? 62 : letter == '_' ? 63 : -1;
}

Status decode(std::string_view item, std::string& text) {
  // Padding may only fill the last four letters, and leaves two of them at least.
  if (item.size() % 4 == 0) {
    for (int i = 0; i < 2 && !item.empty() && item.back() == '='; ++i) item.remove_suffix(1);
  }
  const std::size_t whole = item.size() % 4 == 1 ? item.size() - 1 : item.size();
  std::uint32_t bits = 0;
  unsigned have = 0;
  for (std::size_t i = 0; i < whole; ++i) {
    const int value = value_of(item[i]);
    if (value < 0) return bad_data(Code::kInvalidArgument, "Invalid character found in base64.");
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    have += 6;
    if (have >= 8) {
      have -= 8;
      text += static_cast<char>(bits >> have & 0xFFU);
    }
  }
  if (whole == item.size()) return {};
  return bad_data(Code::kInvalidArgument, "Base64 string length cannot be 1 modulo 4.");
}

Status compute(Compute& c) { return map_strings(c, decode); }

}  // namespace

extern constexpr OpDef decode_base64_op{.name = "decode_base64",
                                        .summary = "The bytes that web-safe base64 stands for.",
                                        .params = kStringParams,
                                        .paths = "io.decode_base64",
                                        .effect = Effect::kFallible,
                                        .infer = infer_string_map,
                                        .compute = compute,
                                        .per_item = true};

}  // namespace spillway::graph
