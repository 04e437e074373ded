#include "spillway/graph/random_source.h"

namespace spillway::graph {

extern constexpr OpDef random_normal_op{.name = "random_normal",
                                        .summary = "Numbers of the standard normal distribution.",
                                        .params = kRandomParams,
                                        .infer = infer_random<FloatTypes>,
                                        .loop = random_loop<FastNormalOf, FloatTypes>};

}  // namespace spillway::graph
