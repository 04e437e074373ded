#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "spillway/errors.h"

namespace spillway {

// The limit of all pipelines of the process. It bounds what the engine holds, what it handed out
// and is still referenced included. Without a call: SPILLWAY_MEMORY_LIMIT, else derived from the
// container and the machine. May be changed at any time, from any thread.
Status set_memory_limit(std::size_t bytes);
Status set_memory_limit(std::string_view text);  // "2GiB", "512 MB", "1.5g"

// Where buffers go that do not fit; never a tmpfs. Empty: chosen by the engine.
void set_spill_directory(const std::string& directory);

// The ledger at one moment.
struct MemoryReport {
  std::size_t limit = 0;      // as set, or derived
  std::size_t effective = 0;  // what of it the container leaves after the rest of the process
  std::size_t used = 0;
  std::size_t peak = 0;
  std::size_t untracked = 0;  // held by the rest of the process
  std::string text;           // all of it as a table: every pipeline and stage, with their lines
};
MemoryReport memory_report();

}  // namespace spillway
