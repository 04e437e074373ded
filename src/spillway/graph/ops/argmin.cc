#include "spillway/graph/arg_fold.h"

namespace spillway::graph {

extern constexpr OpDef argmin_op{
    .name = "argmin",
    .summary = "The place of the smallest item along the axis; the first of equals.",
    .params = kArgParams,
    .infer = infer_arg<ArgMinOuts>,
    .fold = arg_fold<std::less<>>};

}  // namespace spillway::graph
