#include "spillway/guard/stack_dump.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace spillway {
namespace {

using Handler = void (*)(int);

std::atomic<Handler> dumps{nullptr};
std::atomic<int> mark_fd{-1};

void dump_and_mark(int number) {
  const int before = errno;
  if (const Handler dump = dumps) dump(number);
  // A reader that is gone needs no mark.
  [[maybe_unused]] const ssize_t written = ::write(mark_fd, &kEndOfStacks, 1);
  errno = before;
}

}  // namespace

void mark_end_of_stacks(int number, int fd) {
  struct sigaction action{};
  if (sigaction(number, nullptr, &action) != 0) return;
  if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler == SIG_DFL ||
      action.sa_handler == SIG_IGN) {
    return;
  }
  dumps = action.sa_handler;
  mark_fd = fd;
  action.sa_handler = dump_and_mark;
  sigaction(number, &action, nullptr);
}

}  // namespace spillway
