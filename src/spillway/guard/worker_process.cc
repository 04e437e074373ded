#include "spillway/guard/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <new>
#include <random>
#include <string_view>
#include <utility>

#include "spillway/base/clock.h"
#include "spillway/guard/stack_dump.h"
#include "spillway/memory/machine.h"

namespace spillway {
namespace {

constexpr int kBuryMs = 2000;    // for a process that closed its channel to be gone
constexpr int kKillMs = 10'000;  // and for one that was killed: it may sit in the kernel
constexpr std::size_t kMostStack = 64 * 1024;
// Read at a time: code in the worker may write to the pipe for ever.
constexpr std::size_t kMostStackRead = 16 * kMostStack;
constexpr int kSliceMs = 50;    // of a wait for stacks
constexpr int kQuietMs = 1000;  // after which stacks without an end count as whole

// Nothing that a worker would write by accident.
std::uint64_t first_request() {
  static std::random_device random;
  return (std::uint64_t{random()} << 32U) ^ random();
}

void keep_the_end(std::string& stacks) {
  if (stacks.size() > kMostStack) stacks.erase(0, stacks.size() - kMostStack);
}

void send_signal(int pidfd, int number) {
  syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0);
}

// Whether it cannot answer a signal: stopped, or a zombie.
bool stands_still(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // The name in brackets may hold anything; the state is the letter after it.
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos || end + 2 >= line.size()) return true;
  return std::string_view("TtZX").find(line[end + 2]) != std::string_view::npos;
}

}  // namespace

std::size_t anonymous_bytes(pid_t pid) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/statm", static_cast<int>(pid));
  const Descriptor file(open(path.data(), O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  if (!file || pread(file.get(), text.data(), text.size() - 1, 0) <= 0) return 0;
  unsigned long size = 0;
  unsigned long resident = 0;
  unsigned long shared = 0;
  if (std::sscanf(text.data(), "%lu %lu %lu", &size, &resident, &shared) != 3) return 0;
  return (resident > shared ? resident - shared : 0) * SharedMemory::kPage;
}

WorkerProcess::WorkerProcess(std::shared_ptr<Spawner> spawner, Spawner::Spawned spawned,
                             SharedMemory::Piece beat, std::shared_ptr<SharedMemory> memory,
                             std::shared_ptr<std::atomic<int>> alive, WorkerKind kind)
    : spawner_(std::move(spawner)),
      memory_(std::move(memory)),
      alive_(std::move(alive)),
      kind_(std::move(kind)),
      spawned_(std::move(spawned)),
      beat_piece_(std::move(beat)),
      beat_(new(beat_piece_.bytes().data()) Beat),
      oom_before_(oom_kills()),
      at_start_(anonymous_bytes(spawned_.pid)),
      request_(first_request()) {
  ++*alive_;
  spawned_.channel.ends_with(spawned_.pidfd.get());
  if (spawned_.stacks) fcntl(spawned_.stacks.get(), F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() {
  if (!buried_ && ours()) {
    send_signal(spawned_.pidfd.get(), SIGKILL);
    bury();
  }
  --*alive_;
}

void WorkerProcess::keep(SharedMemory::Piece piece) {
  kept_bytes_ += piece.bytes().size();
  kept_.push_back(std::move(piece));
}

void WorkerProcess::pay(Reservation room) {
  bytes_elsewhere() -= room_.bytes();
  room_ = std::move(room);
  room_.touch();
  bytes_elsewhere() += room_.bytes();
}

void WorkerProcess::grow(Reservation more) {
  bytes_elsewhere() -= grown_.bytes();
  grown_ = std::move(more);
  grown_.touch();
  bytes_elsewhere() += grown_.bytes();
}

void WorkerProcess::shrink_room(std::size_t bytes) {
  const std::size_t before = room_.bytes();
  room_.shrink(bytes);
  bytes_elsewhere() -= before - room_.bytes();
}

std::size_t WorkerProcess::sample_memory() {
  sampled_at_ = now_ns();
  const std::size_t now = anonymous_bytes(spawned_.pid);
  if (now > 0) sampled_ = now > at_start_ ? now - at_start_ : 0;
  return sampled_;
}

bool WorkerProcess::ended(int wait_ms) const {
  pollfd one{spawned_.pidfd.get(), POLLIN, 0};
  const std::int64_t until = now_ns() + std::int64_t{wait_ms} * 1'000'000;
  for (;;) {
    const std::int64_t left = std::max<std::int64_t>(0, (until - now_ns()) / 1'000'000);
    const int ready = poll(&one, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready == 0) return false;
  }
}

WorkerProcess::Stacks WorkerProcess::read_stacks(int wait_ms) const {
  Stacks found;
  if (!spawned_.stacks) return found;
  pollfd one{spawned_.stacks.get(), POLLIN, 0};
  std::array<char, 4096> some{};
  std::size_t all = 0;
  while (all < kMostStackRead && poll(&one, 1, all == 0 ? wait_ms : 0) > 0) {
    const ssize_t got = read(spawned_.stacks.get(), some.data(), some.size());
    if (got <= 0) break;
    all += static_cast<std::size_t>(got);
    found.text.append(some.data(), static_cast<std::size_t>(got));
    found.whole = std::erase(found.text, kEndOfStacks) > 0 || found.whole;
    keep_the_end(found.text);
  }
  return found;
}

std::string WorkerProcess::stack(int wait_ms, const Channel::GiveUp& give_up) {
  constexpr std::int64_t kMs = 1'000'000;
  if (!spawned_.stacks) return "";
  read_stacks(0);
  send_signal(spawned_.pidfd.get(), SIGUSR1);
  std::string text;
  const std::int64_t until = now_ns() + wait_ms * kMs;
  std::int64_t quiet_since = now_ns();
  for (bool first = true; now_ns() < until; first = false) {
    if (!first && ((give_up && give_up()) || stands_still(spawned_.pid))) break;
    const Stacks more = read_stacks(kSliceMs);
    text += more.text;
    keep_the_end(text);
    if (more.whole) break;
    if (!more.text.empty()) quiet_since = now_ns();
    // User code may have put a handler of its own there, which marks no end.
    if (!text.empty() && now_ns() - quiet_since > kQuietMs * kMs) break;
  }
  return text;
}

void WorkerProcess::kill(std::string ours, bool too_slow) {
  if (ended(0)) return;
  ours_ = std::move(ours);
  too_slow_ = too_slow;
  send_signal(spawned_.pidfd.get(), SIGKILL);
}

void WorkerProcess::kill_for_junk() {
  if (ended(0)) return;
  mute_ = true;
  send_signal(spawned_.pidfd.get(), SIGKILL);
}

Death WorkerProcess::bury() {
  Death death;
  // A channel that is closed while its process goes on belongs to one that lost its mind.
  bool gone = ended(kBuryMs);
  if (!gone) {
    mute_ = mute_ || ours_.empty();
    send_signal(spawned_.pidfd.get(), SIGKILL);
    gone = ended(kKillMs);
  }
  buried_ = true;
  const Spawner::End end = gone ? spawner_->reap(spawned_.pid) : Spawner::End();
  death.signal = end.signal;
  death.exit_code = end.exit_code;
  death.ours = ours_;
  death.too_slow = too_slow_;
  death.mute = mute_;
  death.stack = read_stacks(0).text;
  death.oom_before = oom_before_;
  death.oom_after = oom_kills();
  death.memory = sampled_;
  death.allowed = kind_.memory_limit;
  pay({});
  grow({});
  return death;
}

}  // namespace spillway
