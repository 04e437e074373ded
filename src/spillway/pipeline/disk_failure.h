#pragma once

#include <string>
#include <string_view>

#include "spillway/base/status.h"

namespace spillway {

// What a failed write to `path` means: kResource, of type DiskFull where there is no room (disk,
// quota, largest size of a file) and FileError where the disk fails; otherwise the user's to mend
// (no such folder, no permission). `doing`: "cache: cannot write".
Status write_failure(std::string_view doing, const std::string& path, int error);

// Whether an error is one of those that no program can help: the disk is full, or fails.
bool is_disk_failure(const Status& error);

}  // namespace spillway
