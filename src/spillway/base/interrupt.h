#pragma once

#include <cstdint>

namespace spillway {

// Ctrl-C while a thread waits inside the engine: the front sets a question for the thread, waits
// ask it now and then, and a yes makes them return kCancelled with nothing lost.
class InterruptScope {
 public:
  using Poll = bool (*)();
  explicit InterruptScope(Poll poll);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  Poll before_;
};

// Whether this thread was told to stop waiting. Asks at most every 20 ms; cheap otherwise.
bool interrupted(std::int64_t now_ns);
bool interrupted();

}  // namespace spillway
