#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spillway/base/status.h"

namespace spillway {

// How often the kernel has killed a process of this cgroup for want of memory; nothing: it does
// not say. `root` replaces "/" in tests.
std::optional<std::uint64_t> oom_kills(const std::string& root = "");

// The group that this counts for; empty: unknown.
std::string memory_cgroup(const std::string& root = "");

// What is known of a process that ended, gathered from evidence only.
struct Death {
  int signal = 0;         // 0: it exited
  int exit_code = 0;      // -1: nobody could ask
  std::string ours;       // why we killed it ourselves ("a deadline of 3 s"); empty: we did not
  bool too_slow = false;  // that was for a deadline
  bool mute = false;      // that was since nothing sensible came from it any more
  std::string stack;      // of its threads when it died, as faulthandler wrote it
  std::optional<std::uint64_t> oom_before;
  std::optional<std::uint64_t> oom_after;
  std::size_t memory = 0;   // private bytes when last seen
  std::size_t allowed = 0;  // bytes it was allowed; 0: any

  enum class Verdict : std::uint8_t {
    kCrash,        // a signal of its own making
    kOutOfMemory,  // the kernel's killer, or its own limit
    kKilled,       // from outside: nobody's fault here
    kTooSlow,      // by us, after a deadline
    kExited,       // it ended itself
    kSandbox,      // it did what its sandbox does not allow
    kMute,         // it went on without its channel, or wrote junk to it
  };
  Verdict verdict() const;
  // "was killed by the OOM killer (oom_kill of its cgroup 0 -> 1; 2.1 GiB when last seen)"
  std::string describe() const;
  // Whether running the same element again could end otherwise without it being to blame.
  bool innocent() const { return verdict() == Verdict::kKilled; }
};

}  // namespace spillway
