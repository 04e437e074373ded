#pragma once

#include <string>

#include "spillway/pipeline/operator.h"

namespace spillway {

// What `spillway describe` prints, from the definitions alone; python/spillway/__main__.py writes
// the same text.

// A line an operator, by name; hidden ones are left out.
std::string describe_operators();
// Signature, summary, a line a parameter (type, default, doc), the example.
std::string describe_operator(const OperatorDef& def);

}  // namespace spillway
