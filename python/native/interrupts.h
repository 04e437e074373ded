#pragma once

#include <utility>

#include "python.h"
#include "spillway/base/interrupt.h"

namespace spillway::python {

// The engine at work for a thread of Python's, and what interrupts that thread meanwhile: Ctrl-C,
// a signal's handler that raises. Handlers run where the engine asks interrupted(); what they
// raise, there or in user code that was called on this thread, is kept here, and the engine comes
// back with kCancelled and nothing lost. Whoever made this then raises it.
//
//     Interrupts interrupts;
//     Status status;
//     {
//       const WithoutGil free;
//       status = work();
//     }
//     if (interrupts.raise()) return nullptr;
//
// Made and gone with the GIL, on one thread; they nest.
class Interrupts {
 public:
  // `poll`: what is asked instead of Python, where its own handlers cannot run (StopButton).
  explicit Interrupts(InterruptScope::Poll poll = nullptr);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Raises what was kept. False: there is nothing.
  bool raise();
  // What was kept, for another time; empty: nothing.
  Ref take() { return std::exchange(raised_, Ref()); }
  // Whether something is kept for this thread: nothing more is to be begun for it.
  static bool waiting();
  // Whether this thread has one that would raise what is kept now.
  static bool here();

 private:
  friend class UserCode;
  friend void keep_interruption(Ref exception);
  static bool poll_python();

  Interrupts* const outer_;
  const InterruptScope scope_;
  Ref raised_;
};

// While user code runs on this thread: the interpreter itself acts on signals then, and what is
// raised there belongs to the user's code first.
class UserCode {
 public:
  UserCode();
  ~UserCode();
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

 private:
  Interrupts* const outer_;
  const InterruptScope scope_{nullptr};
};

// What an exception means to the element that was being made. See spillway/interruptions.py.
enum class Meaning : std::uint8_t {
  kFailure,  // of this element
  kRaised,   // not an Exception (SystemExit): for whoever asked for the element
  kSignal,   // a signal's handler raised it, in the middle of anything
};
Meaning meaning_of(PyObject* exception);

// Raised where the thread's engine comes back; without one, by the interpreter, soon.
void keep_interruption(Ref exception);
// In place of PyErr_Clear(), where Python code of ours may have been interrupted: drops the
// exception now set, but for that of a signal's handler, which is kept. Whether it was one.
bool forget_exception();
// In place of PyErr_WriteUnraisable(), in the same way.
bool tell_unraisable(PyObject* where);

}  // namespace spillway::python
