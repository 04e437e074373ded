#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spillway/base/status.h"

namespace spillway {

// Adds the files and folders that match: *, ?, [...] within a part of the path, never across
// a slash. A part that is no pattern is kept as it is written. In no order.
// Those of another store ("s3://...") are found by the lister.
Status add_matching_files(std::string_view pattern, std::vector<std::string>& out);

// Who finds the files of other stores; an empty one takes it back.
using FileLister = std::function<Status(const std::string& pattern, std::vector<std::string>& out)>;
void set_file_lister(FileLister lister);

}  // namespace spillway
