#include "spillway/guard/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <random>
#include <utility>

#include "spillway/base/clock.h"
#include "spillway/memory/machine.h"

namespace spillway {
namespace {

constexpr int kBuryMs = 2000;    // for a process that closed its channel to be gone
constexpr int kKillMs = 10'000;  // and for one that was killed: it may sit in the kernel
constexpr std::size_t kMostStack = 64 * 1024;
// Read at a time: code in the worker may write to the pipe for ever.
constexpr std::size_t kMostStackRead = 16 * kMostStack;

// Nothing that a worker would write by accident.
std::uint64_t first_request() {
  static std::random_device random;
  return (std::uint64_t{random()} << 32U) ^ random();
}

void send_signal(int pidfd, int number) {
  syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0);
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

std::string WorkerProcess::read_stacks(int wait_ms) const {
  std::string text;
  if (!spawned_.stacks) return text;
  pollfd one{spawned_.stacks.get(), POLLIN, 0};
  std::array<char, 4096> some{};
  // The first bytes are waited for; what follows them comes at once.
  std::size_t all = 0;
  while (all < kMostStackRead && poll(&one, 1, text.empty() ? wait_ms : 5) > 0) {
    const ssize_t got = read(spawned_.stacks.get(), some.data(), some.size());
    if (got <= 0) break;
    all += static_cast<std::size_t>(got);
    text.append(some.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostStack) text.erase(0, text.size() - kMostStack);
  }
  return text;
}

std::string WorkerProcess::stack(int wait_ms, const Channel::GiveUp& give_up) {
  constexpr int kSliceMs = 50;
  read_stacks(0);
  send_signal(spawned_.pidfd.get(), SIGUSR1);
  std::string text;
  for (int waited = 0; waited < wait_ms && text.empty(); waited += kSliceMs) {
    if (waited > 0 && give_up && give_up()) break;
    text = read_stacks(kSliceMs);
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
  death.stack = read_stacks(0);
  death.oom_before = oom_before_;
  death.oom_after = oom_kills();
  death.memory = sampled_;
  death.allowed = kind_.memory_limit;
  pay({});
  grow({});
  return death;
}

}  // namespace spillway
