#pragma once

#include "spillway/pipeline/operator.h"

namespace spillway {

// Calls `function` for each of `rows` on behalf of `stage`: retries a failing row as the stage's
// policy says, and gives an error its index, origin and input. Results keep the rows' origins.
// With a `demand`, rows may be left when its bytes or its time are reached. Results may be made in
// their places in `batch`.
Function::Outcome call_rows(Stage& stage, Function& function, const Chunk& rows,
                            std::int64_t first_index, std::int64_t epoch,
                            const Demand* demand = nullptr, RowGatherer* batch = nullptr);

// What follows when the call for row `row` of `rows` failed with `error`: it is called again as the
// policy says, and an error that stays gets its index, origin and input. The result has no origins.
Function::Outcome settle_row(Stage& stage, Function& function, const Chunk& rows, std::int64_t row,
                             std::int64_t index, std::int64_t epoch, Status error);

// The same as call_rows for one row built by the operator (scan's state and element, a key): the
// structure says how it is taken apart. `origin` names the element.
Result<Row> call_row(Stage& stage, Function& function, const StructurePtr& structure,
                     std::vector<Tensor> values, const Origin& origin, std::int64_t index,
                     std::int64_t epoch, StructurePtr* out_structure = nullptr);

// An error that stands for the row: what is lost with it.
Status of_row(Status error, const Chunk& rows, std::int64_t row);

// A predicate's declared result must be a boolean scalar; an undeclared one is checked at its first
// element, by bool_result.
Status check_predicate(const Function& predicate);

// Reads a scalar result: a predicate, a key.
Result<bool> bool_result(const Chunk& results, std::int64_t row, std::string_view what);
// The same for all rows at once, where they are one block of booleans; null otherwise.
const bool* bool_results(const Chunk& results);
Result<std::int64_t> int_result(const Tensor& value, std::string_view what);
Result<NodePtr> dataset_result(const Tensor& value, std::string_view what);

}  // namespace spillway
