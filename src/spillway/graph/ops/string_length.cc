#include <algorithm>

#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const std::string unit = c.attrs().get_or("unit", std::string("BYTE"));
  if (unit != "BYTE" && unit != "UTF8_CHAR") {
    return invalid_argument("Value for attr 'unit' of \"", unit,
                            "\" is not in the list of allowed values: \"BYTE\", \"UTF8_CHAR\"");
  }
  return infer_of_strings(c, DType::kInt32);
}

Status compute(Compute& c) {
  if (c.attrs.get_or("unit", std::string("BYTE")) == "BYTE") {
    return measure_strings<std::int32_t>(c, DType::kInt32, [](std::string_view item) {
      return static_cast<std::int32_t>(item.size());
    });
  }
  return measure_strings<std::int32_t>(c, DType::kInt32, [](std::string_view item) {
    return static_cast<std::int32_t>(item.size()) -
           static_cast<std::int32_t>(std::count_if(item.begin(), item.end(), is_trail));
  });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                {"unit", ParamKind::kString, "'BYTE'"}};

}  // namespace

extern constexpr OpDef string_length_op{.name = "string_length",
                                        .summary = "Bytes, or UTF-8 characters, of each string.",
                                        .params = kParams,
                                        .paths = "strings.length",
                                        .infer = infer,
                                        .compute = compute,
                                        .per_item = true};

}  // namespace spillway::graph
