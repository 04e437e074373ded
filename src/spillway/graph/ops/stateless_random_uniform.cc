#include "spillway/graph/random_source.h"

namespace spillway::graph {

extern constexpr OpDef stateless_random_uniform_op{
    .name = "stateless_random_uniform",
    .summary = "Numbers in [0, 1) that a seed determines.",
    .params = kStatelessParams,
    .infer = infer_stateless<FloatTypes>,
    .prepare = random_kernel<UniformOf, FloatTypes>};

}  // namespace spillway::graph
