#include "spillway/graph/random_source.h"

namespace spillway::graph {

extern constexpr OpDef random_truncated_normal_op{
    .name = "random_truncated_normal",
    .summary = "Numbers of the standard normal distribution, those beyond 2 drawn again.",
    .params = kRandomParams,
    .infer = infer_random<FloatTypes>,
    .loop = random_loop<FastTruncatedNormalOf, FloatTypes>};

}  // namespace spillway::graph
