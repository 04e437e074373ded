#pragma once

#include <re2/re2.h>

#include "spillway/graph/strings.h"

namespace spillway::graph {

// The pattern in a scalar operand, compiled; the last one of this thread is kept. A pattern that
// does not compile is refused in TensorFlow's words.
Result<const RE2*> compiled(const Tensor& pattern);

inline re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace spillway::graph
