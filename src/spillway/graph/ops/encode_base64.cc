#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

Status compute(Compute& c) {
  const bool pad = c.attrs.get_or("pad", false);
  return map_strings(c, [pad](std::string_view item, std::string& text) -> Status {
    for (std::size_t i = 0; i < item.size(); i += 3) {
      const std::size_t n = std::min<std::size_t>(3, item.size() - i);
      std::uint32_t bits = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        bits = bits << 8U | (k < n ? static_cast<unsigned char>(item[i + k]) : 0U);
      }
      for (std::size_t k = 0; k <= n; ++k) text += kLetters[bits >> (18 - 6 * k) & 63U];
      if (pad) text.append(3 - n, '=');
    }
    return {};
  });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                {"pad", ParamKind::kBool, "False"}};

}  // namespace

extern constexpr OpDef encode_base64_op{.name = "encode_base64",
                                        .summary = "Bytes as web-safe base64.",
                                        .params = kParams,
                                        .paths = "io.encode_base64",
                                        .infer = infer_string_map,
                                        .compute = compute,
                                        .per_item = true};

}  // namespace spillway::graph
