#pragma once

#include <span>
#include <string>
#include <string_view>

#include "spillway/guard/watch.h"

namespace spillway {

// A message with the number that it begins with.
std::string numbered(std::uint64_t number, std::string_view message);

// Sends a request to a worker and waits for its answer, watching it. Where results need more room
// than was given with the request, `room` is replaced by one that holds them, reserved for
// `account`; where that is refused, `refused` says why, and the answer is the worker's that it has
// no room. False: the worker is
// dead or dying, or nobody waits any more (Watch::stopped). `fds` go along with the request.
bool exchange(WorkerProcess& worker, Watch& watch, const AccountPtr& account,
              const std::string& request, SharedMemory::Piece& room, std::string& answer,
              Status& refused, std::span<const int> fds = {});

}  // namespace spillway
