#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace spillway {

// The soft RLIMIT_DATA of this process, which makes one allocation that is too large an ordinary
// error of whoever asked: malloc() and mmap() say no where the container's killer would act later.
// It bounds private writable address space, so it has to follow what is used. Thread-safe.
class DataLimit {
 public:
  // What was set before we changed it, by the user or the system; none: no limit.
  static std::optional<std::size_t> given();
  // From now on no more than so much address space (VmData), and never more than given().
  static void follow(std::size_t bytes);
  // So much more until it is followed again. False where the limit is not ours.
  static bool grant(std::size_t bytes);
  // As it was given. Children inherit a limit and nobody would raise theirs, so it is lifted
  // before a process is started, for `ns`: follow() does nothing meanwhile.
  static void lift(std::int64_t ns);
};

}  // namespace spillway
