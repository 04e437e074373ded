#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spillway/base/status.h"
#include "spillway/observe/flight_layout.h"

namespace spillway {

// What a process that is gone left behind, as plain values. The bytes may be a stranger's or
// damaged: texts are cut to their room and otherwise as they were found, numbers may be any.
struct FlightRecord {
  struct Task {
    std::uint64_t thread = 0;
    int level = 0;
    flight::Phase phase = flight::Phase::kNone;
    bool whole = true;  // false: it was just being written
    std::string text;
    std::string detail;
    std::int64_t epoch = -1;
    std::int64_t element = -1;
    double seconds = 0;  // in it, when it was last looked at; never negative
    std::int64_t amount = 0;
  };
  struct Holder {
    std::string text;
    std::uint64_t bytes = 0;
  };
  struct Memory {
    double ago = 0;  // seconds before the last look; never negative
    std::uint64_t used = 0;
    std::uint64_t limit = 0;
    std::uint64_t untracked = 0;
    std::uint64_t own = 0;
    std::uint64_t container = 0;
    std::uint64_t container_used = 0;
    std::int64_t oom_kills = -1;
    std::vector<Holder> holders;
  };
  // The element that was handed on last; -1: there was none, or its pass is over.
  std::int64_t handed = -1;
  std::string handed_by;    // the pipeline's last stage
  std::string handed_file;  // what it was read from; empty: not known
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t pid_namespace = 0;
  std::string boot;
  std::string host;
  std::string cgroup;
  std::string program;
  std::string interpreter;
  double began = 0;      // seconds since 1970
  double last_seen = 0;  // likewise
  std::int64_t oom_kills = -1;
  std::int64_t open = 0;
  std::uint64_t reports = 0;
  std::string report;
  double report_ago = 0;       // seconds before the last look; never negative
  std::vector<Task> tasks;     // those of a thread one after the other, outermost first
  std::vector<Memory> memory;  // oldest first
};

// Refused: wrong size, magic or version. Takes memory in proportion to flight::Region, whatever
// the bytes say.
Result<FlightRecord> read_flight_record(std::span<const std::byte> bytes);

}  // namespace spillway
