#include "spillway/graph/string_case.h"

namespace spillway::graph {

extern constexpr OpDef string_lower_op{.name = "string_lower",
                                       .summary = "Strings in lower case.",
                                       .params = kStringCaseParams,
                                       .paths = "strings.lower",
                                       .infer = infer_string_case,
                                       .compute = change_case<'A', 'Z', append_lower>,
                                       .per_item = true};

}  // namespace spillway::graph
