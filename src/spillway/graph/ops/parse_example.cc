#include "spillway/graph/example_parser.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) { return infer_examples(c, false); }
Status compute(Compute& c) { return parse_examples(c, false); }

}  // namespace

extern constexpr OpDef parse_example_op{.name = "parse_example",
                                        .summary = "Features of serialized examples, in batches.",
                                        .params = kExampleParams,
                                        .outputs = -1,
                                        .effect = Effect::kFallible,
                                        .infer = infer,
                                        .compute = compute};

}  // namespace spillway::graph
