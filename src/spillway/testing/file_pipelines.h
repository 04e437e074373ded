#pragma once

#include "spillway/testing/files.h"
#include "spillway/testing/pipelines.h"

namespace spillway::testing {

// Paths as the parameter of an operator.
inline ElementPtr files(const std::vector<std::string>& paths) {
  const std::vector<std::string_view> views(paths.begin(), paths.end());
  const Shape shape{static_cast<std::int64_t>(views.size())};
  return element(Structure::tensor(DType::kString, shape),
                 {make_strings(Budget::process().open_account("test"), shape, views).value()});
}

}  // namespace spillway::testing
