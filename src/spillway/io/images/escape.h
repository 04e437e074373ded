#pragma once

#include <array>
#include <csetjmp>
#include <cstddef>

namespace spillway {

// The way out of a C library that reports errors by a callback that must not return. What is
// between run() and leave() is skipped, so it must hold nothing that has a destructor: whatever
// owns lives outside.
class Escape {
 public:
  // False: step(state) was left. `step` is a plain function or a lambda that captures nothing.
  template <class State>
  bool run(State& state, void (*step)(State&)) {
    // NOLINTNEXTLINE(cert-err52-cpp): the libraries know no other way
    if (setjmp(back_) != 0) return false;
    step(state);
    return true;
  }
  [[noreturn]] void leave() { std::longjmp(back_, 1); }

  static constexpr std::size_t kMessage = 256;
  std::array<char, kMessage> message{};  // what the library said, ended by NUL
  std::size_t offset = 0;                // where in its input it was

 private:
  std::jmp_buf back_{};
};

}  // namespace spillway
