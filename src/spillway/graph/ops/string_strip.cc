#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status compute(Compute& c) { return view_strings(c, trimmed); }

}  // namespace

extern constexpr OpDef string_strip_op{.name = "string_strip",
                                       .summary = "Strings without the white space around them.",
                                       .params = kStringParams,
                                       .paths = "strings.strip",
                                       .infer = infer_string_map,
                                       .compute = compute,
                                       .per_item = true};

}  // namespace spillway::graph
