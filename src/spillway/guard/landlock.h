#pragma once

#include <string>
#include <vector>

#include "spillway/base/status.h"

namespace spillway {

// What of Landlock the kernel has; 0: nothing.
int landlock_version();

// This thread and those it starts may read beneath `folders` (empty: anywhere), and change nothing
// in the file system; where the kernel can (versions 4 and 6), no TCP and no signals to others
// either. It also keeps them from looking into other processes. Without Landlock nothing happens.
// Needs no_new_privs.
Status enter_landlock(const std::vector<std::string>& folders);

}  // namespace spillway
