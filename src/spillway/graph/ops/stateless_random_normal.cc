#include "spillway/graph/random_source.h"

namespace spillway::graph {

extern constexpr OpDef stateless_random_normal_op{
    .name = "stateless_random_normal",
    .summary = "Normal numbers that a seed determines.",
    .params = kStatelessParams,
    .infer = infer_stateless<FloatTypes>,
    .prepare = random_kernel<ExactNormalOf, FloatTypes>};

}  // namespace spillway::graph
