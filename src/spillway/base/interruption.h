#pragma once

#include <string_view>

#include "spillway/base/status.h"

namespace spillway {

// User code that ends more than its element: SystemExit, a test framework's way out, whatever the
// front says. It comes in the element's place, after the rows before it, and stands for no element
// (is_position() is false): policies, quarantine and audit pass it over, the front raises it as it
// is, and asking again calls the function for the same element once more.
inline constexpr std::string_view kInterruption = "Interruption";

inline bool is_interruption(const Status& status) {
  return !status.ok() && status.code() == Code::kCancelled && status.info().type == kInterruption;
}

}  // namespace spillway
