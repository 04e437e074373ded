#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "spillway/base/forks.h"
#include "spillway/guard/channel.h"
#include "spillway/guard/death.h"
#include "spillway/guard/shared_memory.h"

namespace spillway {

// A page that a worker and its parent share: where it is, for whoever has to say later.
struct Beat {
  std::atomic<std::int64_t> row{-1};  // of the rows of its call; -1: none
};

// What a worker is made for, before its first request; it stays that to its end.
struct WorkerKind {
  std::size_t memory_limit = 0;  // bytes it may allocate beside what it starts with; 0: any
  // Enters a sandbox as soon as it has loaded what it is to run. What it says is a stranger's word:
  // nothing of it is unpickled, and results are copied out of the memory that it can write to.
  bool sandboxed = false;
  std::vector<std::string> folders;  // that it may read; empty: any
  bool operator==(const WorkerKind&) const = default;
};

// Memory of a process that no file is behind; 0: it is gone.
std::size_t anonymous_bytes(pid_t pid);

// Starts processes and hears of their end.
class Spawner {
 public:
  struct Spawned {
    pid_t pid = -1;
    Descriptor pidfd;
    Channel channel;
    Descriptor stacks;  // what faulthandler writes can be read here
  };
  struct End {
    int signal = 0;
    int exit_code = -1;
  };
  virtual ~Spawner() = default;
  virtual Result<Spawned> spawn(int shared_memory) = 0;
  // Of a process that has ended: it is not asked about before.
  virtual End reap(pid_t pid) = 0;
  // Keeps a process ready for the next start, or no more. Returns at once.
  virtual void keep_spare(bool /*wanted*/) {}
  // Bytes it holds itself to be able to start them, without the spare one's.
  virtual std::size_t memory() { return 0; }
  // Gives those up until the next start; only while none of its processes lives.
  virtual void rest() {}
};

// One worker, from the side of the process that it works for. One thread at a time. A forked
// child's copy of it does nothing to the worker.
class WorkerProcess {
 public:
  WorkerProcess(std::shared_ptr<Spawner> spawner, Spawner::Spawned spawned,
                SharedMemory::Piece beat, std::shared_ptr<SharedMemory> memory,
                std::shared_ptr<std::atomic<int>> alive, WorkerKind kind = {});
  // Ends it, if it still runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return spawned_.pid; }
  const WorkerKind& kind() const { return kind_; }
  bool ours() const { return home_.here(); }
  bool alive() const { return !ended(0); }
  Channel& channel() { return spawned_.channel; }
  SharedMemory& memory() const { return *memory_; }
  Beat& beat() const { return *beat_; }
  std::uint64_t beat_offset() const { return beat_piece_.offset(); }

  // What it was given once and keeps.
  bool knows(std::uint64_t id) const { return known_.contains(id); }
  void learn(std::uint64_t id, std::shared_ptr<const void> what) {
    known_.insert(id);
    hold(std::move(what));
  }
  // What it refers to until it ends, and what stays charged until then.
  void hold(std::shared_ptr<const void> what) { held_.insert(std::move(what)); }

  // What its users have agreed on with it.
  std::shared_ptr<void>& conversation() { return conversation_; }

  // Bytes that code in it still refers to: nobody else's until it ends.
  void keep(SharedMemory::Piece piece);
  std::size_t kept_bytes() const { return kept_bytes_; }

  // Private bytes it holds now, and as reported by the last sample; charged by the pool.
  std::size_t sample_memory();
  std::int64_t sampled_at() const { return sampled_at_; }  // when that was
  std::size_t sampled_bytes() const { return sampled_; }
  // What pays for it: room that was reserved before it was started, and what it grew beyond.
  void pay(Reservation room);
  void grow(Reservation more);
  void shrink_room(std::size_t bytes);
  std::size_t room() const { return room_.bytes(); }
  std::size_t grown() const { return grown_.bytes(); }
  std::size_t paid() const { return room() + grown(); }

  // Where its threads are, as faulthandler tells it (stack_dump.h); what there is of it where it
  // did not answer in time, stands still, or `give_up`, asked every 50 ms, had enough.
  std::string stack(int wait_ms, const Channel::GiveUp& give_up);
  // `ours` goes into the verdict; `too_slow`: for a deadline.
  void kill(std::string ours, bool too_slow);
  // For what came over its channel, or did not.
  void kill_for_junk();
  // The number of a request: its answers begin with it, so that nothing else passes for one.
  std::uint64_t next_request() { return ++request_; }
  // Waits for its end (and sees to it), then says what is known of it.
  Death bury();

 private:
  bool ended(int wait_ms) const;
  struct Stacks {
    std::string text;
    bool whole = false;  // their end was read
  };
  // What can be read of them now; so long is waited for the first bytes.
  Stacks read_stacks(int wait_ms) const;

  const HomeProcess home_;
  const std::shared_ptr<Spawner> spawner_;
  const std::shared_ptr<SharedMemory> memory_;
  const std::shared_ptr<std::atomic<int>> alive_;  // how many there are
  const WorkerKind kind_;
  Spawner::Spawned spawned_;
  SharedMemory::Piece beat_piece_;
  Beat* const beat_;
  std::unordered_set<std::uint64_t> known_;
  std::unordered_set<std::shared_ptr<const void>> held_;
  std::shared_ptr<void> conversation_;
  std::vector<SharedMemory::Piece> kept_;
  std::size_t kept_bytes_ = 0;
  std::optional<std::uint64_t> oom_before_;
  std::size_t sampled_ = 0;
  std::int64_t sampled_at_ = 0;
  std::size_t at_start_ = 0;  // pages it shares with the process it was forked from
  Reservation room_;
  Reservation grown_;
  std::string ours_;
  bool too_slow_ = false;
  bool mute_ = false;
  std::uint64_t request_;
  bool buried_ = false;
};

}  // namespace spillway
