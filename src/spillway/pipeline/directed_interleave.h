#pragma once

#include <vector>

#include "spillway/pipeline/operator.h"

namespace spillway {

// Takes the next element of whichever input a stream of numbers names. An input that has ended is
// passed over, or ends everything with `stop_on_empty`; the end also comes with the selector's, or
// when no input is left.
struct DirectedParts {
  IteratorPtr selector;            // int64 scalars
  bool overpull_selector = false;  // whether asking it for more than is used goes unnoticed
  std::size_t first_input = 0;     // the node's inputs from here on are chosen from
  std::vector<bool> excluded;      // inputs that count as ended from the start; may be empty
  bool stop_on_empty = false;
};
Result<IteratorPtr> open_directed(const OpenContext& context, DirectedParts parts);

// The structure that fits the elements of all `inputs`; TensorFlow's TypeError where there is none.
Result<StructurePtr> mixed_structure(std::span<const NodePtr> inputs);
// Endless if any is, else not known.
std::int64_t mixed_cardinality(std::span<const NodePtr> inputs);

}  // namespace spillway
