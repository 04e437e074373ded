#include "spillway/guard/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "spillway/guard/landlock.h"
#include "spillway/guard/system_calls.h"
#include "spillway/testing/files.h"

namespace spillway {
namespace {

using ::testing::HasSubstr;

// How a child ended that did something in a sandbox, and what it reported.
struct End {
  int signal = 0;
  int code = -1;
  std::string report;
};

constexpr int kNoSandbox = 99;

// The thread sanitizer runs handlers at the next call that it watches, when the forbidden one has
// been passed over.
#if defined(__has_feature)
constexpr bool kSignalsWait = __has_feature(thread_sanitizer);
#else
constexpr bool kSignalsWait = false;
#endif

End in_sandbox(const std::function<int()>& what, const std::vector<std::string>& folders = {}) {
  std::array<int, 2> pipe_ends{};
  EXPECT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    close(pipe_ends[0]);
    report_sandbox_to(pipe_ends[1]);
    if (!enter_sandbox(folders).ok()) _exit(kNoSandbox);
    _exit(what());
  }
  close(pipe_ends[1]);
  End end;
  std::array<char, 256> some{};
  for (ssize_t got = 0; (got = read(pipe_ends[0], some.data(), some.size())) > 0;) {
    end.report.append(some.data(), static_cast<std::size_t>(got));
  }
  close(pipe_ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  return end;
}

// What a call that returns -1 failed with.
int error_of(long result) { return result == -1 ? errno : 0; }

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    const Status possible = sandbox_possible(false);
    if (!possible.ok()) GTEST_SKIP() << possible.message();
  }
};

TEST_F(Sandbox, ComputingReadingAndThreadsGoOn) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/data";
  std::ofstream(path) << "hello";
  const End end = in_sandbox([&path] {
    std::ifstream file(path);
    std::string text;
    file >> text;
    if (text != "hello") return 1;
    if (open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0) return 5;
    void* block =
        mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return 2;
    pthread_t thread{};
    const auto run = [](void* in) -> void* {
      *static_cast<int*>(in) = 7;
      return nullptr;
    };
    int made = 0;
    if (pthread_create(&thread, nullptr, run, &made) != 0) return 3;
    pthread_join(thread, nullptr);
    return made == 7 ? 0 : 4;
  });
  EXPECT_EQ(end.code, 0) << end.signal;
  EXPECT_EQ(end.report, "");
}

TEST_F(Sandbox, NothingIsWrittenCreatedOrRemoved) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/kept";
  std::ofstream(path) << "as it was";
  const std::string other = folder.path() + "/new";
  const std::vector<std::pair<const char*, std::function<long()>>> attempts = {
      {"open to write", [&] { return open(path.c_str(), O_WRONLY); }},
      {"open to read and write", [&] { return open(path.c_str(), O_RDWR); }},
      {"open to truncate", [&] { return open(path.c_str(), O_RDONLY | O_TRUNC); }},
      {"create", [&] { return open(other.c_str(), O_CREAT | O_WRONLY, 0600); }},
      {"create by the old call", [&] { return syscall(SYS_creat, other.c_str(), 0600); }},
      {"the older open", [&] { return syscall(SYS_open, path.c_str(), O_WRONLY, 0); }},
      {"nameless", [&] { return open(folder.path().c_str(), O_TMPFILE | O_RDWR, 0600); }},
      {"unlink", [&] { return long{unlink(path.c_str())}; }},
      {"rename", [&] { return long{rename(path.c_str(), other.c_str())}; }},
      {"link", [&] { return long{link(path.c_str(), other.c_str())}; }},
      {"symlink", [&] { return long{symlink(path.c_str(), other.c_str())}; }},
      {"chmod", [&] { return long{chmod(path.c_str(), 0777)}; }},
      {"mkdir", [&] { return long{mkdir(other.c_str(), 0700)}; }},
      {"truncate", [&] { return long{truncate(path.c_str(), 0)}; }},
  };
  for (const auto& [what, attempt] : attempts) {
    const End end = in_sandbox([&attempt] { return error_of(attempt()); });
    EXPECT_EQ(end.code, EACCES) << what << " signal " << end.signal;
  }
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "as it was");
  EXPECT_NE(access(other.c_str(), F_OK), 0);
}

TEST_F(Sandbox, WhatOnlyIntrudersDoEndsTheProcessAndIsNamed) {
  if (kSignalsWait) GTEST_SKIP() << "the thread sanitizer puts handlers of SIGSYS off";
  static const pid_t kParent = getpid();
  const std::vector<std::pair<std::string, std::function<void()>>> attacks = {
      {"socket (41)", [] { socket(AF_INET, SOCK_STREAM, 0); }},
      {"socket (41)", [] { socket(AF_INET6, SOCK_DGRAM, 0); }},
      {"socketpair (53)", [] { socketpair(AF_INET, SOCK_STREAM, 0, nullptr); }},
      {"connect (42)",
       [] {
         const sockaddr_in where{};
         [[maybe_unused]] const int got =
             connect(0, reinterpret_cast<const sockaddr*>(&where), sizeof(where));
       }},
      {"execve (59)",
       [] {
         char* const none[] = {nullptr};
         execve("/bin/true", none, none);
       }},
      {"execveat (322)", [] { syscall(SYS_execveat, 0, "", nullptr, nullptr, 0x1000); }},
      {"fork (57)", [] { syscall(SYS_fork); }},
      {"vfork (58)", [] { syscall(SYS_vfork); }},
      {"clone (56)", [] { syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }},
      {"kill (62)", [] { kill(kParent, SIGKILL); }},
      {"kill (62)", [] { kill(-1, SIGKILL); }},
      {"tgkill (234)", [] { syscall(SYS_tgkill, kParent, kParent, SIGKILL); }},
      {"pidfd_open (434)", [] { syscall(SYS_pidfd_open, kParent, 0); }},
      {"ptrace (101)", [] { ptrace(PTRACE_ATTACH, kParent, nullptr, nullptr); }},
      {"process_vm_readv (310)", [] { process_vm_readv(kParent, nullptr, 0, nullptr, 0, 0); }},
      {"process_vm_writev (311)", [] { process_vm_writev(kParent, nullptr, 0, nullptr, 0, 0); }},
      {"mount (165)", [] { syscall(SYS_mount, "none", "/", "tmpfs", 0, nullptr); }},
      {"unshare (272)", [] { syscall(SYS_unshare, CLONE_NEWUSER); }},
      {"bpf (321)", [] { syscall(SYS_bpf, 0, nullptr, 0); }},
      {"keyctl (250)", [] { syscall(SYS_keyctl, 0, 0, 0, 0, 0); }},
      {"io_uring_setup (425)", [] { syscall(SYS_io_uring_setup, 1, nullptr); }},
      {"userfaultfd (323)", [] { syscall(SYS_userfaultfd, 0); }},
  };
  for (const auto& [call, attack] : attacks) {
    const End end = in_sandbox([&attack] {
      attack();
      return 0;
    });
    EXPECT_EQ(end.signal, SIGSYS) << call << " went on with code " << end.code;
    EXPECT_EQ(sandboxed_call(end.report), call) << end.report;
  }
}

TEST_F(Sandbox, OtherNumbersOfTheSameCallsDoNotHelp) {
  constexpr long kX32 = 0x40000000;
  const End end = in_sandbox([] {
    syscall(kX32 + SYS_socket, AF_INET, SOCK_STREAM, 0);
    return 0;
  });
  EXPECT_EQ(end.signal, SIGSYS);
}

TEST_F(Sandbox, WhatLibrariesTryFailsAndTheyGoOn) {
  const std::vector<std::pair<int, std::function<long()>>> attempts = {
      {EACCES, [] { return long{socket(AF_UNIX, SOCK_STREAM, 0)}; }},
      {ENOSYS, [] { return syscall(SYS_clone3, nullptr, 0); }},
      {ENOSYS, [] { return syscall(SYS_openat2, AT_FDCWD, "/", nullptr, 0); }},
      {EPERM, [] { return syscall(SYS_memfd_create, "x", 0); }},
      {EPERM, [] { return long{prctl(PR_SET_PDEATHSIG, 0)}; }},
      {EPERM, [] { return syscall(SYS_setuid, 0); }},
      {ENOTTY, [] { return long{ioctl(0, TIOCSTI, "x")}; }},
      {EPERM, [] { return long{fcntl(0, F_SETOWN, getppid())}; }},
      {EPERM,
       [] {
         const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
         return long{setrlimit(RLIMIT_DATA, &all)};
       }},
      {EPERM, [] { return syscall(SYS_seccomp, 1, 0, nullptr); }},
  };
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const End end = in_sandbox([&] { return error_of(attempts[i].second()); });
    EXPECT_EQ(end.code, attempts[i].first) << "attempt " << i << ", signal " << end.signal;
  }
}

TEST_F(Sandbox, ItHoldsForThreadsThatWereThereBefore) {
  if (kSignalsWait) GTEST_SKIP() << "the thread sanitizer puts handlers of SIGSYS off";
  std::array<int, 2> go{};
  ASSERT_EQ(pipe(go.data()), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    pthread_t thread{};
    const auto run = [](void* in) -> void* {
      char one = 0;
      if (read(*static_cast<int*>(in), &one, 1) == 1) socket(AF_INET, SOCK_STREAM, 0);
      return nullptr;
    };
    pthread_create(&thread, nullptr, run, go.data());
    if (!enter_sandbox({}).ok()) _exit(kNoSandbox);
    if (write(go[1], "x", 1) != 1) _exit(1);
    pthread_join(thread, nullptr);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  close(go[0]);
  close(go[1]);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSYS);
}

TEST_F(Sandbox, WithFoldersOnlyThoseCanBeRead) {
  if (const Status possible = sandbox_possible(true); !possible.ok()) {
    GTEST_SKIP() << possible.message();
  }
  const testing::TemporaryFolder inside;
  const testing::TemporaryFolder outside;
  std::ofstream(inside.path() + "/a") << "a";
  std::ofstream(outside.path() + "/secret") << "s";
  const std::string link = inside.path() + "/link";
  ASSERT_EQ(symlink((outside.path() + "/secret").c_str(), link.c_str()), 0);
  const auto opened = [&](const std::string& path) {
    return in_sandbox([&path] { return error_of(open(path.c_str(), O_RDONLY)); }, {inside.path()})
        .code;
  };
  EXPECT_EQ(opened(inside.path() + "/a"), 0);
  EXPECT_EQ(opened(outside.path() + "/secret"), EACCES);
  EXPECT_EQ(opened(link), EACCES);
  EXPECT_EQ(opened(inside.path() + "/../" + "etc"), ENOENT);
  EXPECT_EQ(opened("/etc/passwd"), EACCES);
}

TEST_F(Sandbox, OtherProcessesCannotBeLookedInto) {
  if (landlock_version() < 1) GTEST_SKIP() << "no Landlock here";
  static std::string secret = "what only the parent knows";
  const std::string parent = "/proc/" + std::to_string(getpid());
  const auto read_at = [&parent](const char* file, off_t at) {
    return in_sandbox([&] {
             std::array<char, 16> some{};
             const int fd = open((parent + file).c_str(), O_RDONLY);
             return fd >= 0 && pread(fd, some.data(), some.size(), at) > 0 ? 1 : 0;
           })
        .code;
  };
  EXPECT_EQ(read_at("/mem", reinterpret_cast<off_t>(secret.data())), 0);
  EXPECT_EQ(read_at("/environ", 0), 0);
  EXPECT_EQ(read_at("/maps", 0), 0);
  EXPECT_EQ(read_at("/auxv", 0), 0);
  // Not hidden: what anybody may see.
  EXPECT_EQ(read_at("/cmdline", 0), 1);
}

TEST(SandboxReport, ALineNamesTheCall) {
  EXPECT_EQ(sandboxed_call("sandbox: system call 41\nThread 0x1:\n"), "socket (41)");
  EXPECT_EQ(sandboxed_call("noise\nsandbox: system call 9999\n"), "a system call (9999)");
  EXPECT_EQ(sandboxed_call("Thread 0x1:\n"), "");
  EXPECT_EQ(sandboxed_call("sandbox: system call x"), "");
}

}  // namespace
}  // namespace spillway
