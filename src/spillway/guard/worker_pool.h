#pragma once

#include <deque>
#include <memory>
#include <vector>

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

  enum class Which : std::uint8_t { kAny, kFresh };
  // Exists while a call needs workers, one after the other.
  class Calling {
   public:
    explicit Calling(WorkerPool& pool);
    ~Calling();
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;

    // Of this kind. kAny: one that waits for work, or a new one. Its bytes are reserved before it
    // is started: where there is no room, another call's worker is waited for, and where no call
    // has one, room, as Account::reserve() does; so it is refused rather than waited for for ever.
    // The same where the system allows no further process, which is reported once: with none at
    // all it is an error. `give_up` ends the waiting (kCancelled).
    Result<WorkerPtr> take(const WorkerKind& kind, Which which = Which::kAny,
                           const Channel::GiveUp& give_up = nullptr);

   private:
    WorkerPool& pool_;
  };
  // Held by a pass that will call workers: keeps room for one of them, if there was some.
  class Guarantee {
   public:
    explicit Guarantee(std::shared_ptr<WorkerPool> pool);
    ~Guarantee();
    Guarantee(const Guarantee&) = delete;
    Guarantee& operator=(const Guarantee&) = delete;

   private:
    const std::shared_ptr<WorkerPool> pool_;
  };
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
  // One that waits for work, or a new one for which there is room; null: neither.
  Result<WorkerPtr> try_take(const WorkerKind& kind, Which which);
  // `room`: what it is expected to hold.
  Result<WorkerPtr> start(const WorkerKind& kind, Reservation room);
  // Those that were killed while they waited are handed over: nobody's call is to blame for them.
  WorkerPtr idle_of(const WorkerKind& kind, std::vector<WorkerPtr>& dead) SW_REQUIRES(mutex_);
  std::size_t recycle_at(const WorkerKind& kind) const;
  bool has_idle(const WorkerKind& kind, Which which) const SW_REQUIRES(mutex_);
  // Ends one that nobody uses, unless it will do itself; false: there is none.
  bool make_way(const WorkerKind& kind, Which which);
  // Lets some time pass in which another call may end; false: none has a worker. `refused`: why the
  // system allows no further one, or null.
  bool wait_for_others(const Status* refused);
  // Parked, and not to be waited for by others.
  void wait_a_little() SW_REQUIRES(mutex_);
  // Room for a worker when no call has one: in turn, and only until there is an idle one.
  Result<WorkerPtr> start_when_there_is_room(const WorkerKind& kind, Which which,
                                             const Channel::GiveUp& give_up);
  // What a worker, and what starts them, will hold: as the last ones did, and no more than a
  // quarter of the budget each.
  std::size_t expected_bytes() const;
  std::size_t expected_of_spawner() const SW_REQUIRES(mutex_);
  // Room for what starts them; false: there is none now.
  bool pay_for_spawner() SW_REQUIRES(mutex_);
  void settle_spawner();
  void keep_guarantee();
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
  std::size_t waiting_ SW_GUARDED_BY(mutex_) = 0;  // of those: for a worker
  bool starting_ SW_GUARDED_BY(mutex_) = false;    // one of them waits for room
  std::size_t guarantees_ SW_GUARDED_BY(mutex_) = 0;
  bool told_ SW_GUARDED_BY(mutex_) = false;  // that there are fewer than wanted
  std::size_t most_calling_ SW_GUARDED_BY(mutex_) = 1;
  std::atomic<std::size_t> expected_{std::size_t{8} << 20U};
  std::size_t spawner_bytes_ SW_GUARDED_BY(mutex_) = std::size_t{24} << 20U;  // measured: 21 to 23
  std::size_t spawner_bytes_elsewhere_ SW_GUARDED_BY(mutex_) = 0;
  Reservation spawner_paid_ SW_GUARDED_BY(mutex_);
  Reservation spare_paid_ SW_GUARDED_BY(mutex_);  // for the one forked ahead; none: there is none
  std::deque<WorkerPtr> idle_ SW_GUARDED_BY(mutex_);  // the last one used last
  Budget::Registration pressure_;
};

}  // namespace spillway
