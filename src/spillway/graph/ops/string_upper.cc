#include "spillway/graph/string_case.h"

namespace spillway::graph {

extern constexpr OpDef string_upper_op{.name = "string_upper",
                                       .summary = "Strings in upper case.",
                                       .params = kStringCaseParams,
                                       .paths = "strings.upper",
                                       .infer = infer_string_case,
                                       .compute = change_case<'a', 'z', append_upper>,
                                       .per_item = true};

}  // namespace spillway::graph
