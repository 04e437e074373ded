#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// Adds the local files and folders that match: *, ?, [...] within a part of the path, never across
// a slash. A part that is no pattern is kept as it is written. In no order.
void add_matching_files(std::string_view pattern, std::vector<std::string>& out);

}  // namespace spillway
