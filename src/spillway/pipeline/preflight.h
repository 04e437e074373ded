#pragma once

#include "spillway/pipeline/spec.h"

namespace spillway {

// The pipeline that a pre-flight check runs: every source element and every function of `root`
// once, in the source's order, and no element is lost for the sake of another.
//   left out   shuffle, repeat, prefetch, cache, ignore_errors, assert_cardinality; batch,
//              padded_batch and rebatch where nothing behind them looks at batches; take, skip and
//              shard behind a shuffle, where they choose others in every epoch. A repeat beside a
//              finite dataset (zip) stays.
//   changed    error policies: retries stay, nothing is skipped or quarantined; a stage that
//              gathers elements gathers those that did not fail. Traced maps run in parallel.
// Functions, lines and the rest are those of `root`; so positions restore into an equal pipeline's.
Result<NodePtr> preflight(const NodePtr& root);

}  // namespace spillway
