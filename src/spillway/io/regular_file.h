#pragma once

#include <sys/types.h>

#include <string>

#include "spillway/base/status.h"

namespace spillway {

// Opening a FIFO may wait for ever, opening a device may do something, and neither they nor sockets
// have an end. So every path that a user names is looked at before it is opened, and opened so that
// it cannot wait whatever the path has become meanwhile.

// Refuses what is there and is no regular file, by its kind; links are followed. What is not there
// is left to open().
Status refuse_special(const std::string& path);

// open(2) for regular files: a descriptor, closed in programs that are started. Its error names the
// path, in TensorFlow's classes.
Result<int> open_regular(const std::string& path, int flags, mode_t mode = 0);

}  // namespace spillway
