#include "spillway/graph/arg_fold.h"

namespace spillway::graph {

extern constexpr OpDef argmax_op{
    .name = "argmax",
    .summary = "The place of the largest item along the axis; the first of equals.",
    .params = kArgParams,
    .infer = infer_arg<ArgMaxOuts>,
    .fold = arg_fold<std::greater<>>};

}  // namespace spillway::graph
