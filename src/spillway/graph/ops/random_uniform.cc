#include "spillway/graph/random_source.h"

namespace spillway::graph {

extern constexpr OpDef random_uniform_op{.name = "random_uniform",
                                         .summary = "Numbers in [0, 1), each as likely.",
                                         .params = kRandomParams,
                                         .infer = infer_random<FloatTypes>,
                                         .loop = random_loop<UniformOf, FloatTypes>};

}  // namespace spillway::graph
