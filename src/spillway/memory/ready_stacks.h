#pragma once

#include <cstddef>

namespace spillway {

// Keeps some stacks for threads ready. A thread that a library starts takes its stack of 8 MiB
// from the C library's cache of them, if there is one, and from the kernel otherwise, which our
// limit makes say no when little is left; libraries like ZeroMQ and OpenMP abort then. A stack
// that nobody runs on costs address space and some kilobytes. One thread at a time.
class ReadyStacks {
 public:
  // Fills the cache again when more threads live than ever before: they took what was there. Two
  // microseconds otherwise. Not while the limit stands in the way.
  void keep();

 private:
  std::size_t most_threads_ = 0;
};

}  // namespace spillway
