#include "spillway/graph/random_source.h"

namespace spillway::graph {

extern constexpr OpDef stateless_truncated_normal_op{
    .name = "stateless_truncated_normal",
    .summary = "Normal numbers within 2 that a seed determines.",
    .params = kStatelessParams,
    .infer = infer_stateless<FloatTypes>,
    .prepare = random_kernel<ExactTruncatedNormalOf, FloatTypes>};

}  // namespace spillway::graph
