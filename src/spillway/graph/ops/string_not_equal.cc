#include "spillway/graph/string_compare.h"

namespace spillway::graph {

extern constexpr OpDef string_not_equal_op{.name = "string_not_equal",
                                           .summary = "Whether strings differ, item by item.",
                                           .params = kStringPairParams,
                                           .infer = infer_string_compare,
                                           .compute = compare_strings<false>,
                                           .per_item = true};

}  // namespace spillway::graph
