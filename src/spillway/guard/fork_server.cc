#include "spillway/guard/fork_server.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/guard/message.h"
#include "spillway/memory/data_limit.h"
#include "spillway/observe/competitors.h"

namespace spillway {
namespace {

constexpr std::int64_t kExecNs = 200'000'000;
constexpr std::int64_t kStartNs = 60'000'000'000;  // imports on a cold and busy machine

constexpr std::int64_t kStoppedNs = 1'000'000'000;

// Gives up when an answer does not come for so long.
Channel::GiveUp within(std::int64_t ns) {
  return [until = now_ns() + ns] { return now_ns() > until; };
}

// Whether somebody has stopped a process (SIGSTOP).
bool is_stopped(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  return text[name_end + 2] == 'T' || text[name_end + 2] == 't';
}

// Waits for the process that starts workers; not for one that has been stopped for a second.
Channel::GiveUp patience_with(pid_t pid) {
  return [pid, late = within(kStartNs), since = now_ns(), looked = now_ns()]() mutable {
    const std::int64_t now = now_ns();
    if (now - looked < kStoppedNs / 10) return false;
    looked = now;
    if (!is_stopped(pid)) since = now;
    return now - since > kStoppedNs || late();
  };
}

}  // namespace

ForkServer::~ForkServer() {
  const MutexLock lock(mutex_);
  stop();
}

void ForkServer::stop() {
  channel_.close();
  if (pid_ > 0 && home_.here()) {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

Status ForkServer::start() {
  SW_ASSIGN(auto ends, Channel::pair());
  const int theirs = ends.second.fd();
  std::vector<std::string> words = command_;
  words.push_back(std::to_string(theirs));
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Ctrl-C in a terminal is meant for the user's process alone.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // What the user's process ignores or blocks is not to be inherited: where SIGCHLD is ignored,
  // nobody hears how a child ended.
  sigset_t signals;
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  // Onto itself: stays open in the new program, and in no other that starts meanwhile.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, theirs);
  pid_t pid = -1;
  DataLimit::lift(kExecNs);  // which it would inherit
  const int failed =
      posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return out_of_resource("no process for workers (", words[0], "): ", std::strerror(failed));
  }
  pid_ = pid;
  disregard_process(pid);
  channel_ = std::move(ends.first);
  return {};
}

Result<Spawner::Spawned> ForkServer::spawn(int shared_memory) {
  const std::string environment = environment_ ? environment_() : "";
  const MutexLock lock(mutex_);
  Status failed;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (pid_ < 0) SW_RETURN_IF_ERROR(start());
    auto spawned = ask_for_worker(shared_memory, environment);
    // A server that answers is not to blame, and its other workers live.
    if (spawned.ok() || channel_.fd() >= 0) return spawned;
    failed = std::move(spawned).status();
    stop();
    if (failed.code() == Code::kCancelled) break;
  }
  return failed;
}

void ForkServer::keep_spare(bool wanted) {
  const std::string request =
      MessageWriter().add(Verb::kSpare).add(static_cast<std::uint8_t>(wanted ? 1 : 0)).bytes();
  const MutexLock lock(mutex_);
  if (pid_ > 0) channel_.send(request, within(0));
}

Result<Spawner::Spawned> ForkServer::ask_for_worker(int shared_memory,
                                                    const std::string& environment) {
  SW_ASSIGN(auto ends, Channel::pair());
  std::array<int, 2> stacks{};
  if (pipe2(stacks.data(), O_CLOEXEC) != 0) {
    return out_of_resource("no pipe for a worker: ", std::strerror(errno));
  }
  Spawned out;
  out.stacks = Descriptor(stacks[0]);
  const Descriptor theirs(stacks[1]);
  const std::array<int, 3> fds{ends.second.fd(), shared_memory, theirs.get()};
  const std::string request = MessageWriter().add(Verb::kSpawn).add(environment).bytes();
  std::string answer;
  bool unwanted = false;
  const Channel::GiveUp patience = [late = patience_with(pid_), &unwanted] {
    unwanted = interrupted();
    return unwanted || late();
  };
  if (channel_.send(request, patience, fds) != Channel::Got::kAll ||
      channel_.receive(answer, patience) != Channel::Got::kAll) {
    channel_.close();
    if (unwanted) return cancelled();
    return out_of_resource("the process that starts workers ended or does not answer (",
                           command_.empty() ? "" : command_[0], ")");
  }
  MessageReader reader(answer);
  const auto pid = reader.get<std::int64_t>();
  if (!reader.ok() || pid <= 0) {
    return out_of_resource("no further worker process: ", reader.text());
  }
  out.pid = static_cast<pid_t>(pid);
  // Nobody else waits for it, so its number is its own until we say so.
  out.pidfd = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, out.pid, 0)));
  if (!out.pidfd) return out_of_resource("a worker's pidfd: ", std::strerror(errno));
  out.channel = std::move(ends.first);
  return out;
}

std::size_t ForkServer::memory() {
  const MutexLock lock(mutex_);
  return pid_ > 0 ? anonymous_bytes(pid_) : 0;
}

void ForkServer::rest() {
  const MutexLock lock(mutex_);
  stop();
}

Spawner::End ForkServer::reap(pid_t pid) {
  const std::string request =
      MessageWriter().add(Verb::kReap).add(static_cast<std::int64_t>(pid)).bytes();
  std::string answer;
  const MutexLock lock(mutex_);
  // The one that forked it is gone: then the kernel killed it, unless it had ended before.
  const End killed{SIGKILL, -1};
  if (pid_ < 0) return killed;
  const Channel::GiveUp patience = patience_with(pid_);
  if (channel_.send(request, patience) != Channel::Got::kAll ||
      channel_.receive(answer, patience) != Channel::Got::kAll) {
    stop();
    return killed;
  }
  End end;  // how is not known
  MessageReader reader(answer);
  const auto status = static_cast<int>(reader.get<std::int64_t>());
  if (!reader.ok() || status < 0) return end;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  return end;
}

}  // namespace spillway
