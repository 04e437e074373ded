#pragma once

#include <memory>

#include "spillway/pipeline/access.h"
#include "spillway/pipeline/saved_dataset.h"

namespace spillway {

using SavedPtr = std::shared_ptr<const SavedDataset>;

// What the parameter `path` names, read once when the dataset is built.
Result<SavedPtr> saved_of(const Node& node);

// A pass over the rows of a saved dataset: `cycle` shards by turns, a row of each, in the order
// that interleave has. A shard that cannot be read is one error in its place; the others go on. A
// checkpoint is shard and position of each that is under way.
IteratorPtr open_saved_rows(const OpenContext& context, SavedPtr saved, std::int64_t cycle);
// Random access, where the place of a row can be computed: one shard of rows of one size that is
// not compressed. A refusal otherwise.
Result<IndexedPtr> index_saved_rows(const OpenContext& context, SavedPtr saved);

// Refuses values of `element_spec` and `compression` that do not fit what was saved.
Status check_saved(const SavedDataset& saved, const StructurePtr& element_spec,
                   const Value& compression);

}  // namespace spillway
