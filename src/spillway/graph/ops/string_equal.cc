#include "spillway/graph/string_compare.h"

namespace spillway::graph {

extern constexpr OpDef string_equal_op{.name = "string_equal",
                                       .summary = "Whether strings are the same, item by item.",
                                       .params = kStringPairParams,
                                       .infer = infer_string_compare,
                                       .compute = compare_strings<true>,
                                       .per_item = true};

}  // namespace spillway::graph
