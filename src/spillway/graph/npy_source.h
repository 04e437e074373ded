#pragma once

#include "spillway/graph/node.h"
#include "spillway/graph/rows.h"

namespace spillway::graph {

// A tensor whose items stay in an .npy file until they are needed: rows of it are read where rows
// are enough. The header is read now; a file that changes later is DATA_LOSS.
Result<NodePtr> load_npy(const std::string& path, SitePtr site);

// The op of such nodes: nothing goes in, the file's array comes out.
extern const OpDef load_npy_op;
// Their rows.
RowsPtr npy_rows(const Node& node);

}  // namespace spillway::graph
