#pragma once

#include <cstddef>

namespace spillway {

// What somebody really asked for, while the capacity that is charged for it is being reserved: a
// refusal says the first. Of this thread; while it lives.
class AskedBytes {
 public:
  explicit AskedBytes(std::size_t bytes) : before_(current()) { current() = bytes; }
  AskedBytes(const AskedBytes&) = delete;
  AskedBytes& operator=(const AskedBytes&) = delete;
  ~AskedBytes() { current() = before_; }

  // For a reservation of so many bytes.
  static std::size_t of(std::size_t reserved) {
    const std::size_t asked = current();
    return asked != 0 && asked < reserved ? asked : reserved;
  }

 private:
  static std::size_t& current() {
    thread_local std::size_t bytes = 0;
    return bytes;
  }
  const std::size_t before_;
};

}  // namespace spillway
