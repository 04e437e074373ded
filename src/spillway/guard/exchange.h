#pragma once

#include <string>

#include "spillway/guard/watch.h"

namespace spillway {

// Sends a request to a worker and waits for its answer, watching it. Where results need more room
// than was given with the request, `room` is replaced by one that holds them. False: the worker is
// dead or dying, or nobody waits any more (Watch::stopped).
bool exchange(WorkerProcess& worker, Watch& watch, const AccountPtr& account,
              const std::string& request, SharedMemory::Piece& room, std::string& answer);

}  // namespace spillway
