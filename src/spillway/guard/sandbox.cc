#include "spillway/guard/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <span>

#include "spillway/guard/landlock.h"
#include "spillway/guard/system_calls.h"

namespace spillway {
namespace {

template <class... Parts>
Status not_here(const Parts&... parts) {
  return Status::error(ErrorKind::kResource, Code::kFailedPrecondition, parts...);
}

}  // namespace

#ifdef __x86_64__
namespace {

// Writes a filter: the program that the kernel runs before every system call.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    give(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
    // The same calls by other numbers (x32).
    add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1);
    give(SECCOMP_RET_KILL_PROCESS);
  }

  void always(std::span<const int> calls, std::uint32_t action) {
    for (const int call : calls) {
      when(call, [&] { give(action); });
    }
  }
  // `body` must end in give(), whatever way it takes.
  template <class Body>
  void when(int call, const Body& body) {
    const std::size_t at = program_.size();
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 0);
    body();
    program_[at].jf = static_cast<std::uint8_t>(program_.size() - at - 1);
  }
  // In a body: the lower half of an argument, all the kernel looks at where it is an int.
  void load_argument(int which) {
    load(offsetof(seccomp_data, args) + static_cast<std::size_t>(which) * 8);
  }
  void load_upper_half(int which) {
    load(offsetof(seccomp_data, args) + static_cast<std::size_t>(which) * 8 + 4);
  }
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits, 0, 0); }
  void give_if(std::uint32_t value, std::uint32_t action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    give(action);
  }
  void give_unless(std::uint32_t value, std::uint32_t action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    give(action);
  }
  void give(std::uint32_t action) { add(BPF_RET | BPF_K, action, 0, 0); }

  std::vector<sock_filter>& program() { return program_; }

 private:
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), 0, 0);
  }
  void add(int code, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    program_.push_back({static_cast<std::uint16_t>(code), yes, no, value});
  }
  std::vector<sock_filter> program_;
};

constexpr std::uint32_t fails_with(int error) {
  return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA);
}
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kTrap = SECCOMP_RET_TRAP;

// Opening is for reading; `flags` is the argument that says so.
void only_for_reading(Filter& filter, int call, int flags) {
  constexpr std::uint32_t kNameless = O_TMPFILE & ~O_DIRECTORY;  // folders are listed with that one
  constexpr std::uint32_t kChanges = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | kNameless;
  filter.when(call, [&] {
    filter.load_argument(flags);
    filter.mask(kChanges);
    filter.give_if(0, kAllow);
    filter.give(fails_with(EACCES));
  });
}

void only_to_itself(Filter& filter, int call) {
  filter.when(call, [&] {
    filter.load_argument(0);
    filter.give_if(static_cast<std::uint32_t>(getpid()), kAllow);
    filter.give(kTrap);
  });
}

// One of the few values of an argument that are needed; any other fails.
void only_values(Filter& filter, int call, int argument, std::span<const std::uint32_t> values,
                 int error) {
  filter.when(call, [&] {
    filter.load_argument(argument);
    for (const std::uint32_t value : values) filter.give_if(value, kAllow);
    filter.give(fails_with(error));
  });
}

void add_checked_calls(Filter& filter) {
  only_for_reading(filter, SYS_open, 1);
  only_for_reading(filter, SYS_openat, 2);
  for (const int call : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo}) {
    only_to_itself(filter, call);
  }
  filter.when(SYS_clone, [&] {
    constexpr std::uint32_t kThread = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
    filter.load_argument(0);
    filter.mask(kThread);
    filter.give_if(kThread, kAllow);
    filter.give(kTrap);
  });
  // Name services and loggers ask for a daemon of this machine, and do without.
  filter.when(SYS_socket, [&] {
    filter.load_argument(0);
    filter.give_if(AF_UNIX, fails_with(EACCES));
    filter.give(kTrap);
  });
  filter.when(SYS_socketpair, [&] {  // event loops wake themselves up with one
    filter.load_argument(0);
    filter.give_if(AF_UNIX, kAllow);
    filter.give(kTrap);
  });
  filter.when(SYS_sendto, [&] {  // to where it is connected, nowhere else
    filter.load_argument(4);
    filter.give_unless(0, fails_with(EACCES));
    filter.load_upper_half(4);
    filter.give_unless(0, fails_with(EACCES));
    filter.give(kAllow);
  });
  filter.when(SYS_prlimit64, [&] {  // asking, not setting
    filter.load_argument(2);
    filter.give_unless(0, fails_with(EPERM));
    filter.load_upper_half(2);
    filter.give_unless(0, fails_with(EPERM));
    filter.load_argument(0);
    filter.give_if(0, kAllow);
    filter.give_if(static_cast<std::uint32_t>(getpid()), kAllow);
    filter.give(fails_with(EPERM));
  });
  only_values(filter, SYS_fcntl, 1, allowed_fcntl(), EPERM);
  only_values(filter, SYS_ioctl, 1, allowed_ioctl(), ENOTTY);
  only_values(filter, SYS_prctl, 0, allowed_prctl(), EPERM);
}

std::vector<sock_filter> filter_program() {
  Filter filter;
  filter.always(calls_allowed(), kAllow);
  add_checked_calls(filter);
  filter.always(calls_of_intruders(), kTrap);
  filter.always(calls_that_change_files(), fails_with(EACCES));
  filter.always(calls_unknown(), fails_with(ENOSYS));
  filter.give(fails_with(EPERM));
  return std::move(filter.program());
}

std::atomic<int> report_fd{-1};

// Runs instead of the call, which did not happen.
void on_sigsys(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const int fd = report_fd;
  std::array<char, 64> line{};
  kSandboxLine.copy(line.data(), kSandboxLine.size());
  char* const begin = line.data() + kSandboxLine.size();
  char* end = std::to_chars(begin, line.data() + line.size() - 1, info->si_syscall).ptr;
  *end++ = '\n';
  if (fd >= 0 && ::write(fd, line.data(), static_cast<std::size_t>(end - line.data())) > 0) {
    // Whoever dumps stacks does it here and now.
    struct sigaction dumps{};
    if (sigaction(SIGUSR1, nullptr, &dumps) == 0 && dumps.sa_handler != SIG_DFL &&
        dumps.sa_handler != SIG_IGN) {
      raise(SIGUSR1);
    }
  }
  struct sigaction dies{};
  dies.sa_handler = SIG_DFL;
  sigaction(SIGSYS, &dies, nullptr);
  raise(SIGSYS);
  _exit(128 + SIGSYS);
}

// Root's rights, but for reading what root could read before: with CAP_PERFMON alone one could look
// at the environment and the addresses of other processes.
Status drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> held{};
  if (syscall(SYS_capget, &header, held.data()) != 0) {
    return out_of_resource("no sandbox: capget: ", std::strerror(errno));
  }
  constexpr std::uint32_t kReading = (1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH);
  for (std::size_t i = 0; i < held.size(); ++i) {
    held[i].effective &= i == 0 ? kReading : 0;
    held[i].permitted &= i == 0 ? kReading : 0;
    held[i].inheritable = 0;
  }
  if (syscall(SYS_capset, &header, held.data()) != 0) {
    return out_of_resource("no sandbox: capset: ", std::strerror(errno));
  }
  return {};
}

Status enter_seccomp() {
  struct sigaction handler{};
  handler.sa_sigaction = on_sigsys;
  handler.sa_flags = SA_SIGINFO | SA_NODEFER;
  std::vector<sock_filter> program = filter_program();
  const sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  if (sigaction(SIGSYS, &handler, nullptr) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole) != 0) {
    return out_of_resource("no sandbox: the kernel refuses the filter: ", std::strerror(errno));
  }
  return {};
}

}  // namespace

Status sandbox_possible(bool folders) {
  std::uint32_t trap = SECCOMP_RET_TRAP;
  if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &trap) != 0) {
    return not_here("a sandbox needs a kernel with seccomp filters (4.14 or later): ",
                    std::strerror(errno));
  }
  if (folders && landlock_version() < 1) {
    return not_here(
        "a sandbox that may read only some folders needs a kernel with Landlock (5.13 or later, "
        "with landlock among its `lsm`); sandbox=True works without");
  }
  return {};
}

Status enter_sandbox(const std::vector<std::string>& folders) {
  SW_RETURN_IF_ERROR(sandbox_possible(!folders.empty()));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return out_of_resource("no sandbox: PR_SET_NO_NEW_PRIVS: ", std::strerror(errno));
  }
  SW_RETURN_IF_ERROR(enter_landlock(folders));
  SW_RETURN_IF_ERROR(drop_capabilities());
  return enter_seccomp();
}

void report_sandbox_to(int fd) { report_fd = fd; }

#else

Status sandbox_possible(bool) {
  return not_here("the sandbox's filter is written for x86-64 only");
}
Status enter_sandbox(const std::vector<std::string>& folders) {
  return sandbox_possible(!folders.empty());
}
void report_sandbox_to(int) {}

#endif

std::string sandboxed_call(std::string_view report) {
  const std::size_t at = report.find(kSandboxLine);
  if (at == std::string_view::npos) return "";
  const std::string_view digits = report.substr(at + kSandboxLine.size());
  int number = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (number < 0) return "";
  return name_of_system_call(number) + " (" + std::to_string(number) + ")";
}

}  // namespace spillway
