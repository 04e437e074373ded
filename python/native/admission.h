#pragma once

#include <malloc.h>

#include <atomic>
#include <string>

#include "spillway/memory/guardian.h"
#include "whose_code.h"

namespace spillway::python {

// How an allocator that others use (NumPy's, Python's) asks the guardian before it allocates. Any
// thread, with the GIL or without it.
class Admission {
 public:
  void turn(bool on) { on_ = on; }

  // What `allocate()` gives; nullptr, and a reason in last_refusal(), where that must not be. An
  // allocation that was admitted may still fail: the soft limit lags behind what was given back
  // since. Then room is made, the limit is set anew, and it is tried once more.
  template <typename Allocate>
  void* ask(const Guardian::Request& request, const Allocate& allocate) {
    if (!on_.load(std::memory_order_relaxed)) return allocate();
    if (!guardian_.fits_at_once(request) && !look(request)) return nullptr;
    void* given = allocate();
    if (given == nullptr && look(request)) given = allocate();
    return given;
  }

  // Counts what malloc() really gave.
  void* given(void* memory) {
    if (memory != nullptr) count(static_cast<std::int64_t>(malloc_usable_size(memory)));
    return memory;
  }
  void count(std::int64_t bytes) { guardian_.allocated(bytes); }

  // Why the last allocation of this thread was refused; empty: none was.
  static std::string& refusal();

 private:
  // A notebook's own code, between two cells, does not survive the refusal of a small object.
  bool look(Guardian::Request request) {
    using enum Guardian::Request::Size;
    if (request.size == kSmall && !runs_for_the_user()) request.size = kNecessary;
    return guardian_.admit_slowly(request, refusal());
  }

  std::atomic<bool> on_{false};
  Guardian& guardian_ = Guardian::process();
};

}  // namespace spillway::python
