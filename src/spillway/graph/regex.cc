#include "spillway/graph/regex.h"

#include <memory>

namespace spillway::graph {

Result<const RE2*> compiled(const Tensor& pattern) {
  if (pattern.shape().rank() != 0) {
    return invalid_argument("Pattern must be scalar, but received ", pattern.shape().bracketed());
  }
  static thread_local std::unique_ptr<const RE2> last;
  const std::string_view text = pattern.string_at(0);
  if (last == nullptr || last->pattern() != text) {
    last = std::make_unique<const RE2>(piece(text), RE2::Quiet);
  }
  if (last->ok()) return last.get();
  return invalid_argument("Invalid pattern: ", text, ", error: ", last->error());
}

}  // namespace spillway::graph
