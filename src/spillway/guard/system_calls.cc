#include "spillway/guard/system_calls.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <utility>

namespace spillway {

#ifdef __x86_64__
namespace {

constexpr int kAllowed[] = {
    // Descriptors it has.
    SYS_read, SYS_write, SYS_pread64, SYS_pwrite64, SYS_readv, SYS_writev, SYS_preadv, SYS_preadv2,
    SYS_pwritev, SYS_lseek, SYS_close, SYS_close_range, SYS_dup, SYS_dup2, SYS_dup3, SYS_pipe,
    SYS_pipe2, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_create, SYS_epoll_create1,
    SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait, SYS_eventfd, SYS_eventfd2, SYS_timerfd_create,
    SYS_timerfd_settime, SYS_timerfd_gettime, SYS_fsync, SYS_fdatasync, SYS_flock, SYS_fadvise64,
    SYS_readahead, SYS_sendmsg, SYS_recvmsg, SYS_recvfrom, SYS_shutdown, SYS_getsockopt,
    SYS_getsockname, SYS_getpeername,
    // Looking at files.
    SYS_stat, SYS_fstat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_access,
    SYS_faccessat, SYS_faccessat2, SYS_readlink, SYS_readlinkat, SYS_getdents, SYS_getdents64,
    SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr,
    SYS_llistxattr, SYS_flistxattr, SYS_umask,
    // Memory.
    SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_msync, SYS_mincore,
    SYS_mlock, SYS_munlock, SYS_membarrier,
    // Threads, and signals to itself.
    SYS_futex, SYS_futex_waitv, SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address,
    SYS_rseq, SYS_arch_prctl, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_setaffinity,
    SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_get_priority_max,
    SYS_sched_get_priority_min, SYS_getcpu, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_rt_sigpending, SYS_rt_sigtimedwait, SYS_rt_sigsuspend, SYS_sigaltstack, SYS_pause,
    SYS_restart_syscall, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid,
    // Time and facts.
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday,
    SYS_time, SYS_times, SYS_alarm, SYS_getitimer, SYS_setitimer, SYS_timer_create,
    SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete, SYS_getpid,
    SYS_getppid, SYS_gettid, SYS_getpgrp, SYS_getpgid, SYS_getsid, SYS_getuid, SYS_geteuid,
    SYS_getgid, SYS_getegid, SYS_getgroups, SYS_getresuid, SYS_getresgid, SYS_getpriority,
    SYS_getrusage, SYS_getrlimit, SYS_capget, SYS_sysinfo, SYS_uname, SYS_getrandom};

constexpr int kChangeFiles[] = {
    SYS_creat,     SYS_truncate,  SYS_rename,      SYS_renameat,     SYS_renameat2,   SYS_mkdir,
    SYS_mkdirat,   SYS_rmdir,     SYS_unlink,      SYS_unlinkat,     SYS_link,        SYS_linkat,
    SYS_symlink,   SYS_symlinkat, SYS_chmod,       SYS_fchmod,       SYS_fchmodat,    SYS_chown,
    SYS_lchown,    SYS_fchown,    SYS_fchownat,    SYS_mknod,        SYS_mknodat,     SYS_utime,
    SYS_utimes,    SYS_utimensat, SYS_futimesat,   SYS_setxattr,     SYS_lsetxattr,   SYS_fsetxattr,
    SYS_ftruncate, SYS_fallocate, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr};

constexpr int kUnknown[] = {SYS_clone3, SYS_openat2, SYS_epoll_pwait2};

using Named = std::pair<int, const char*>;
constexpr Named kIntruders[] = {
    {SYS_connect, "connect"},
    {SYS_bind, "bind"},
    {SYS_listen, "listen"},
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
    {SYS_ptrace, "ptrace"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_process_madvise, "process_madvise"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_pidfd_getfd, "pidfd_getfd"},
    {SYS_pidfd_send_signal, "pidfd_send_signal"},
    {SYS_tkill, "tkill"},
    {SYS_kcmp, "kcmp"},
    {SYS_mount, "mount"},
    {SYS_umount2, "umount2"},
    {SYS_move_mount, "move_mount"},
    {SYS_open_tree, "open_tree"},
    {SYS_fsopen, "fsopen"},
    {SYS_fspick, "fspick"},
    {SYS_fsmount, "fsmount"},
    {SYS_mount_setattr, "mount_setattr"},
    {SYS_pivot_root, "pivot_root"},
    {SYS_chroot, "chroot"},
    {SYS_setns, "setns"},
    {SYS_unshare, "unshare"},
    {SYS_open_by_handle_at, "open_by_handle_at"},
    {SYS_init_module, "init_module"},
    {SYS_finit_module, "finit_module"},
    {SYS_delete_module, "delete_module"},
    {SYS_kexec_load, "kexec_load"},
    {SYS_kexec_file_load, "kexec_file_load"},
    {SYS_reboot, "reboot"},
    {SYS_swapon, "swapon"},
    {SYS_swapoff, "swapoff"},
    {SYS_acct, "acct"},
    {SYS_quotactl, "quotactl"},
    {SYS_bpf, "bpf"},
    {SYS_perf_event_open, "perf_event_open"},
    {SYS_userfaultfd, "userfaultfd"},
    {SYS_keyctl, "keyctl"},
    {SYS_add_key, "add_key"},
    {SYS_request_key, "request_key"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_io_uring_enter, "io_uring_enter"},
    {SYS_io_uring_register, "io_uring_register"},
    {SYS_iopl, "iopl"},
    {SYS_ioperm, "ioperm"},
    {SYS_modify_ldt, "modify_ldt"},
};
// Of these it depends on the arguments.
constexpr Named kSometimes[] = {
    {SYS_socket, "socket"},
    {SYS_socketpair, "socketpair"},
    {SYS_clone, "clone"},
    {SYS_kill, "kill"},
    {SYS_tgkill, "tgkill"},
    {SYS_rt_sigqueueinfo, "rt_sigqueueinfo"},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo"},
};

// No signals by way of descriptors (F_SETOWN), no leases, no seals.
constexpr std::uint32_t kFcntl[] = {F_DUPFD,      F_DUPFD_CLOEXEC, F_GETFD,      F_SETFD,
                                    F_GETFL,      F_SETFL,         F_GETLK,      F_SETLK,
                                    F_SETLKW,     F_OFD_GETLK,     F_OFD_SETLK,  F_OFD_SETLKW,
                                    F_GETPIPE_SZ, F_GET_SEALS,     F_GET_RW_HINT};
// Asking what a terminal is; never typing into it (TIOCSTI).
constexpr std::uint32_t kIoctl[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX};
constexpr std::uint32_t kSetVma = 0x53564d41;  // naming memory: allocators do
constexpr std::uint32_t kPrctl[] = {PR_SET_NAME,       PR_GET_NAME,         PR_GET_DUMPABLE,
                                    PR_CAPBSET_READ,   PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP,
                                    PR_GET_TIMERSLACK, PR_GET_PDEATHSIG,    kSetVma};

constexpr auto numbers_of_intruders() {
  std::array<int, std::size(kIntruders)> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = kIntruders[i].first;
  return out;
}
constexpr auto kIntruderNumbers = numbers_of_intruders();

}  // namespace

std::span<const int> calls_allowed() { return kAllowed; }
std::span<const int> calls_of_intruders() { return kIntruderNumbers; }
std::span<const int> calls_that_change_files() { return kChangeFiles; }
std::span<const int> calls_unknown() { return kUnknown; }
std::span<const std::uint32_t> allowed_fcntl() { return kFcntl; }
std::span<const std::uint32_t> allowed_ioctl() { return kIoctl; }
std::span<const std::uint32_t> allowed_prctl() { return kPrctl; }

std::string name_of_system_call(int number) {
  for (const auto& [call, name] : kIntruders) {
    if (call == number) return name;
  }
  for (const auto& [call, name] : kSometimes) {
    if (call == number) return name;
  }
  return "a system call";
}

#else

std::span<const int> calls_allowed() { return {}; }
std::span<const int> calls_of_intruders() { return {}; }
std::span<const int> calls_that_change_files() { return {}; }
std::span<const int> calls_unknown() { return {}; }
std::span<const std::uint32_t> allowed_fcntl() { return {}; }
std::span<const std::uint32_t> allowed_ioctl() { return {}; }
std::span<const std::uint32_t> allowed_prctl() { return {}; }
std::string name_of_system_call(int) { return "a system call"; }

#endif

}  // namespace spillway
