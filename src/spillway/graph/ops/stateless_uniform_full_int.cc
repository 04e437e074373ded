#include "spillway/graph/random_source.h"

namespace spillway::graph {
namespace {

constexpr ParamDef kFullIntParams[] = {{"shape", ParamKind::kShape},
                                       {"seed", ParamKind::kTensor, "", 'n'},
                                       {"dtype", ParamKind::kDType, "uint64"}};

}  // namespace

extern constexpr OpDef stateless_uniform_full_int_op{
    .name = "stateless_uniform_full_int",
    .summary = "Integers of all values that a seed determines.",
    .params = kFullIntParams,
    .infer = infer_stateless<FullIntegers>,
    .prepare = random_kernel<UniformIntegerOf, FullIntegers>};

}  // namespace spillway::graph
