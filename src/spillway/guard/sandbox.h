#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spillway/base/status.h"

namespace spillway {

// A process that works on files of strangers gives up what it does not need: it may compute, run
// threads, read files and use the descriptors it has, and nothing else. The kernel holds it to
// that (seccomp; Landlock where there is one), whatever code comes to run in it.
//
// Refused with an error that libraries expect (EACCES, EPERM, ENOSYS): opening for writing,
// creating, removing, renaming; sockets of this machine; anything not known to be needed. What only
// an intruder does (network, other programs, new processes, signals to and memory of others,
// mounts, kernel keys, BPF, io_uring) ends the process with SIGSYS, and its report says the call.

// Why no process can be put into a sandbox on this machine; ok: it can. `folders`: into one that
// may read only some, which takes Landlock.
Status sandbox_possible(bool folders);

// From now on and for good, for all threads. `folders`: the only ones beneath which files can be
// read; empty: any. Those that do not exist are passed over.
Status enter_sandbox(const std::vector<std::string>& folders);

// Where a process says what ended it: a line for sandboxed_call(), then SIGUSR1's handler is asked
// for the stack. -1: nowhere.
void report_sandbox_to(int fd);

// The call that a report tells of, "socket (41)"; empty: it tells of none.
std::string sandboxed_call(std::string_view report);
// The beginning of that line.
inline constexpr std::string_view kSandboxLine = "sandbox: system call ";

}  // namespace spillway
