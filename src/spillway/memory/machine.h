#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

namespace spillway {

// What the machine and the container allow, read from the kernel. Every reader answers "no limit
// found" as nullopt; none fails. `root` replaces "/" in tests.
struct MachineMemory {
  std::size_t total = 0;                    // MemTotal
  std::size_t available = 0;                // MemAvailable
  std::optional<std::size_t> cgroup_limit;  // least of this cgroup and its ancestors, v1 or v2
  std::optional<std::size_t> cgroup_anon;   // memory of the cgroup that cannot be dropped
  std::optional<std::size_t> rlimit;        // least of RLIMIT_AS and RLIMIT_DATA
  std::string bound_by;                     // which of them is the least, in words

  // The most this process can ever hold.
  std::size_t container() const;
};

MachineMemory read_machine_memory(const std::string& root = "");

// Bytes of the process's ledger that are not its own anonymous memory: shared with workers, or
// theirs. All of them are in physical memory and counted as touched.
std::atomic<std::size_t>& bytes_elsewhere();

// Anonymous memory of this process (resident minus file-backed): 0.5 us.
std::size_t own_anonymous_bytes();

// What other processes of the container hold; without a container's limit, of the machine.
std::size_t held_by_others(const MachineMemory& machine);
// For telling the user: never what this process held itself within the last seconds, which the
// container's counts may still contain.
std::size_t surely_held_by_others(const MachineMemory& machine);

// Kept back so that the process survives what nobody accounts for:
// 5 % of the container, at least 16 MiB, at most 512 MiB.
std::size_t container_reserve(std::size_t container);

// The budget when the user names none: seven eighths of what is free, leaving the reserve. What the
// user's own code takes comes off it as it is taken, and what can give way makes room for it.
std::size_t default_limit(const MachineMemory& machine, std::size_t own_anonymous);

}  // namespace spillway
