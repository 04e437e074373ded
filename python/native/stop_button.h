#pragma once

namespace spillway::python {

// Ctrl-C for a pass that another library asks on a thread of its own, while the main thread waits
// inside that library's C++ code. Python only notes a signal then, and acts on it when the main
// thread is back: so the pass has to end its wait by itself.
//
// While one of these lives, on the thread that waits: whether Ctrl-C came since. The signal's
// handler is chained in front of Python's, which hears of it as before. Python, or a notebook for
// each of its cells, may set its own again at any time; the next wait puts ours back.
class StopButton {
 public:
  StopButton();
  static bool pressed();  // on this thread's wait; for InterruptScope

 private:
  static thread_local unsigned before_;
};

}  // namespace spillway::python
