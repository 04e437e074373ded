#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace spillway {

// What a sandboxed process does with which system call (sandbox.h), in lists. A call that is in
// none fails with EPERM.

std::span<const int> calls_allowed();
// Nobody's but an intruder's.
std::span<const int> calls_of_intruders();
// Libraries try them and live with EACCES.
std::span<const int> calls_that_change_files();
// Said to be unknown to the kernel: their arguments cannot be looked at, and those who use them
// fall back to calls that can.
std::span<const int> calls_unknown();

// Values of one argument of these calls that are harmless.
std::span<const std::uint32_t> allowed_fcntl();
std::span<const std::uint32_t> allowed_ioctl();
std::span<const std::uint32_t> allowed_prctl();

// Its name where a sandbox may end somebody for it, else "a system call".
std::string name_of_system_call(int number);

}  // namespace spillway
