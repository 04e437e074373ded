#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spillway/observe/board.h"
#include "spillway/observe/flight_record.h"

namespace spillway {

// What is told of a process besides what it does.
struct FlightFacts {
  std::string program;
  std::string interpreter;
  std::string cgroup;
  std::int64_t oom_kills = -1;
};

// Puts the board into a file of mode 0600 in `folder` (made with mode 0700), where it stays if the
// process dies. Locked while the process lives. An error says why nothing is recorded; the board
// then lies in ordinary memory.
Status begin_flight(const std::string& folder, const FlightFacts& facts);
// An orderly end: there is nothing to tell. Only the process that began it removes the file.
void end_flight();
// Where it is written to; empty: nowhere.
std::string flight_path();

// Records of processes that died while something ran, in `folder`: the newest, and how many more
// there were. It is called "last" from now on, the others are removed; so it is found once.
// Records of living processes are left alone, and so is what is not this user's.
struct DeadFlight {
  FlightRecord record;
  int others = 0;
};
// With `program` only those that say so of themselves: others' wait for theirs.
std::optional<DeadFlight> take_dead_flight(const std::string& folder,
                                           const std::string& program = "");
// The one that was found last.
Result<FlightRecord> last_flight(const std::string& folder);

// Of this process, as its record says it.
std::string boot_id();

}  // namespace spillway
