#include "spillway/graph/example_parser.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_examples(c, true); }
Status compute(Compute& c) { return parse_examples(c, true); }

}  // namespace

// Features of known shapes are parsed for many rows at once; others make rows run one by one.
extern constexpr OpDef parse_single_example_op{.name = "parse_single_example",
                                               .summary = "Features of one serialized example.",
                                               .params = kExampleParams,
                                               .outputs = -1,
                                               .effect = Effect::kFallible,
                                               .infer = infer,
                                               .compute = compute,
                                               .per_item = true};

}  // namespace spillway::graph
