#include "stop_button.h"

#include <atomic>
#include <csignal>

namespace spillway::python {
namespace {

using Handler = void (*)(int);

std::atomic<unsigned> presses{0};
std::atomic<Handler> python_handler{nullptr};
static_assert(std::atomic<unsigned>::is_always_lock_free &&
                  std::atomic<Handler>::is_always_lock_free,
              "used in a signal handler");

void note(int signal) {
  presses.fetch_add(1, std::memory_order_relaxed);
  if (const Handler next = python_handler.load(std::memory_order_relaxed)) next(signal);
}

// Nothing where the signal is ignored, ends the process, or is handled in another way than
// Python's.
void listen() {
  struct sigaction now{};
  if (sigaction(SIGINT, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0) return;
  if (now.sa_handler == note || now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL) return;
  python_handler.store(now.sa_handler, std::memory_order_relaxed);
  now.sa_handler = note;
  sigaction(SIGINT, &now, nullptr);
}

}  // namespace

thread_local unsigned StopButton::before_ = 0;

StopButton::StopButton() {
  listen();
  before_ = presses.load(std::memory_order_relaxed);
}

bool StopButton::pressed() { return presses.load(std::memory_order_relaxed) != before_; }

}  // namespace spillway::python
