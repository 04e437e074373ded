#pragma once

#include <string>

// ErrorKind, Code, ErrorInfo, Status, Result, and short ways to make a Status (invalid_argument,
// bad_data). Installed as it is: the engine and its users share these types.
#include "spillway/base/status.h"

namespace spillway {

// Everything an error knows, for people: the message, then the stage with the line that wrote it,
// the element's index and origin, and its file, each on a line of its own where known. "ok" when
// ok.
std::string describe(const Status& status);

}  // namespace spillway
