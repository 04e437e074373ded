#pragma once

#include "spillway/graph/row_chain.h"

namespace spillway::graph {

// Runs a graph on one row, op by op: where a shape inside depends on values. One value a result.
Result<std::vector<Tensor>> interpret(const Graph& graph, std::span<const Tensor> parameters,
                                      const AccountPtr& account, Buffer::Ask ask, const Call& call);

// The same for several rows that follow each other. The graph's chains take their images row by
// row, several at a time; between chains each row goes its way alone.
struct RowsRequest {
  const Graph& graph;
  const RowChains& chains;                          // of `graph`
  std::span<const std::vector<Tensor>> parameters;  // of each row
  const AccountPtr& account;
  Buffer::Ask ask;
  Call call;  // of the first row
  // [rows, ...] for each of the first results, or no value: where a chain may make it.
  std::span<const Tensor> places = {};  // NOLINT(readability-redundant-member-init)
};
struct RowsOutcome {
  std::vector<std::vector<Tensor>> rows;  // those before the first that failed
  Status error;                           // of row rows.size(), when not ok
  // What the chains of a row held at once, files and results; SIZE_MAX: an image of theirs was not
  // taken row by row. How many rows to ask for together is up to the caller.
  std::size_t row_bytes = 0;
};
RowsOutcome interpret_rows(const RowsRequest& request);

}  // namespace spillway::graph
