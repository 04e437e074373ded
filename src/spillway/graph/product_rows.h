#pragma once

#include "spillway/graph/node.h"
#include "spillway/graph/rows.h"

namespace spillway::graph {

// Whether a node is a product of two matrices whose second one need not be held: it is taken a
// panel of its rows at a time, again for every block of rows of the result.
bool is_tileable_product(const Node& node, std::span<const Operand> inputs);

// The rows of such a product. `panel_bytes`: about what of the second matrix is held at a time.
// The bits are those of the product in memory.
RowsPtr product_rows(const Node& node, RowsPtr a, RowsPtr b, std::size_t panel_bytes);

}  // namespace spillway::graph
