#pragma once

#include <deque>
#include <memory>

#include "spillway/base/mutex.h"
#include "spillway/guard/worker_process.h"

namespace spillway {

using WorkerPtr = std::unique_ptr<WorkerProcess>;

// The workers of this process. Whoever calls one has it alone meanwhile; how many there are at a
// time is for the callers to say. Thread-safe. In a forked child its workers are the parent's
// still: none is ended, and none can be had.
class WorkerPool {
 public:
  // The most private bytes of a worker that is kept after its call: beyond, it leaks or kept too
  // much. Less where the budget or its own limit is small: see recycle_at().
  static constexpr std::size_t kRecycleAt = std::size_t{1} << 30U;
  // The same for bytes of its inputs that code in it still refers to.
  static constexpr std::size_t kMostKept = std::size_t{64} << 20U;

  WorkerPool(Budget& budget, std::shared_ptr<Spawner> spawner);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Exists while a call needs workers, one after the other.
  class Calling {
   public:
    explicit Calling(WorkerPool& pool);
    ~Calling();
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;

   private:
    WorkerPool& pool_;
  };
  // Of this kind. kAny: one that waits for work, or a new one; where there is no room for that and
  // others are calling, theirs is waited for until `give_up` says otherwise (kCancelled). The same
  // where the system allows no further process, which is reported once: with none at all it is an
  // error.
  enum class Which : std::uint8_t { kAny, kFresh };
  Result<WorkerPtr> take(const WorkerKind& kind, Which which = Which::kAny,
                         const Channel::GiveUp& give_up = nullptr);
  // One that answered its last request whole.
  void give_back(WorkerPtr worker);
  // Charges what it holds now; returns it.
  std::size_t sample(WorkerProcess& worker);
  // Whether it holds so much that it is to be replaced: half of what it may allocate, or its share
  // of half the budget. What it does next would be the kernel's to end.
  bool overgrown(WorkerProcess& worker);

  // kUser error in a child of the process that it was made in.
  Status check_home() const;
  const std::shared_ptr<SharedMemory>& memory() const { return memory_; }
  const AccountPtr& account() const { return account_; }
  Budget& budget() const { return budget_; }
  std::size_t idle() const;
  std::int64_t started() const { return started_.load(); }
  // Ends those that nobody uses, and what starts them if there are no others; returns the bytes
  // they held.
  std::size_t end_idle();

 private:
  Result<WorkerPtr> start(const WorkerKind& kind);
  WorkerPtr take_idle(const WorkerKind& kind, const Channel::GiveUp& give_up, bool& gave_up);
  WorkerPtr idle_of(const WorkerKind& kind) SW_REQUIRES(mutex_);
  std::size_t recycle_at(const WorkerKind& kind) const;
  // Makes way for a fresh process, or lets some time pass in which another call may end; false:
  // there is nothing to wait for.
  bool wait_for_others(const WorkerKind& kind, Which which, const Status& refused);
  void keep_spare();
  std::size_t give_up_spare() SW_REQUIRES(mutex_);

  const HomeProcess home_;
  Budget& budget_;
  const std::shared_ptr<Spawner> spawner_;
  const AccountPtr account_;
  std::shared_ptr<SharedMemory> memory_;
  Status ready_;  // why there is no memory_
  std::atomic<std::int64_t> started_{0};
  const std::shared_ptr<std::atomic<int>> alive_ = std::make_shared<std::atomic<int>>(0);
  mutable Mutex mutex_;
  CondVar came_back_;
  std::size_t calling_ SW_GUARDED_BY(mutex_) = 0;
  std::size_t stuck_ SW_GUARDED_BY(mutex_) = 0;  // that can have neither a worker nor a process
  bool told_ SW_GUARDED_BY(mutex_) = false;      // that there are fewer than wanted
  std::size_t most_calling_ SW_GUARDED_BY(mutex_) = 1;
  Reservation spawner_paid_ SW_GUARDED_BY(mutex_);
  Reservation spare_paid_ SW_GUARDED_BY(mutex_);  // for the one forked ahead; none: there is none
  std::deque<WorkerPtr> idle_ SW_GUARDED_BY(mutex_);  // the last one used last
  Budget::Registration pressure_;
};

}  // namespace spillway
