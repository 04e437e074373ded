#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "spillway/dataset.h"
#include "spillway/pipeline/operator.h"

namespace spillway {

// A node from arguments by name, as the operator's definition wants them; defaults for the rest.
// `caller` is the dataset that is continued, null for a source. kUser errors name operator and
// parameter, and carry `line`.
Result<NodePtr> make_node(std::string_view op, const Dataset* caller,
                          std::span<const NamedArgument> arguments, const std::string& line);

}  // namespace spillway
