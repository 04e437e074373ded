#include "spillway/guard/copies.h"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace spillway {
namespace {

std::atomic<pid_t> worker{0};  // 0: this process is none

}  // namespace

void begin_as_worker() { worker = getpid(); }

// Not by counting forks: some are made past the C library.
void end_copy_of_worker() {
  const pid_t home = worker.load(std::memory_order_relaxed);
  if (home != 0 && home != getpid()) _exit(0);
}

}  // namespace spillway
