#pragma once

#include <optional>
#include <vector>

#include "spillway/graph/node.h"

// Steps that keep the leading axis apart: which rows of their operands some rows of the result
// need. What micro-batches and tiles are made of.
namespace spillway::graph {

enum class Role : std::uint8_t {
  kRows,   // rows i of the operand, for rows i of the result
  kWhole,  // all of it, for any row
  kShape,  // only says what shape the result has
};

// One role an operand; nullopt where rows of the result depend on other rows, or cannot be made
// alone. Only of nodes with one plain result of at least two rows, all shapes known.
std::optional<std::vector<Role>> row_roles(const Node& node, std::span<const Operand> inputs);

// The same step for `rows` rows of the result; `inputs` are what it works on then. A source of
// random numbers draws those of the rows from Call::first_row on.
Result<NodePtr> sliced(const Node& node, std::span<const Role> roles, std::vector<Operand> inputs,
                       std::int64_t rows, const AccountPtr& account);
// Attribute of a step that stands for rows of a larger one: never folded into a constant.
inline constexpr std::string_view kSliced = "sliced";

// Rows that must be made together so that the bits are those of the whole: the shape of a product
// with few rows decides how it is summed.
std::int64_t least_rows(const Node& node, std::span<const Operand> inputs);

}  // namespace spillway::graph
