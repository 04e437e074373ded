#include "spillway/guard/worker_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "spillway/base/clock.h"
#include "spillway/guard/watch.h"
#include "spillway/guard/worker_verbs.h"
#include "spillway/memory/machine.h"
#include "spillway/observe/board.h"
#include "spillway/observe/report.h"

namespace spillway {
namespace {

// Address space for what is on its way: more than the budget ever allows to be there at once.
std::size_t address_space(Budget& budget) {
  constexpr std::size_t kLeast = std::size_t{1} << 30U;
  constexpr std::size_t kMost = std::size_t{1} << 40U;
  return std::clamp(budget.limit() * 4, kLeast, kMost);
}
// What a forked worker has of its own before it was given anything (measured: 5.6 MB).
constexpr std::size_t kWorkerBytes = std::size_t{6} << 20U;
// A message of a sandboxed worker: facts about rows, or a text.
constexpr std::size_t kMostFromStrangers = std::size_t{64} << 20U;
// Modules that a function loads are no leak: less than this is not worth a new worker.
constexpr std::size_t kLeastRecycled = std::size_t{32} << 20U;
// Looking costs about 10 us: a hundredth of the time.
constexpr std::int64_t kLookNs = 1'000'000;

}  // namespace

WorkerPool::WorkerPool(Budget& budget, std::shared_ptr<Spawner> spawner)
    : budget_(budget), spawner_(std::move(spawner)), account_(budget.open_account("workers")) {
  auto memory = SharedMemory::create(budget, address_space(budget));
  if (memory.ok()) {
    memory_ = std::move(memory).value();
  } else {
    ready_ = std::move(memory).status();
  }
  pressure_ =
      budget.on_pressure(ReclaimOrder::kDroppableCache, [this](std::size_t) { return end_idle(); });
}

WorkerPool::~WorkerPool() {
  pressure_.reset();
  end_idle();
}

WorkerPool::Calling::Calling(WorkerPool& pool) : pool_(pool) {
  const MutexLock lock(pool_.mutex_);
  pool_.most_calling_ = std::max(pool_.most_calling_, ++pool_.calling_);
}

WorkerPool::Calling::~Calling() {
  const MutexLock lock(pool_.mutex_);
  --pool_.calling_;
  pool_.came_back_.notify_all();
}

Status WorkerPool::check_home() const {
  if (home_.here()) return {};
  return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                       "this process was forked from the one that has the workers, and they do not "
                       "come along: make what is isolated or guarded anew in the child");
}

Result<WorkerPtr> WorkerPool::take(const WorkerKind& kind, Which which,
                                   const Channel::GiveUp& give_up) {
  SW_RETURN_IF_ERROR(check_home());
  if (!ready_.ok()) return ready_;
  const DoneByWorker starting(0);
  for (;;) {
    bool gave_up = false;
    if (which == Which::kAny) {
      WorkerPtr worker = take_idle(kind, give_up, gave_up);
      if (worker != nullptr) return worker;
      if (gave_up) return cancelled();
    }
    auto worker = start(kind);
    if (worker.ok() || worker.error().kind() != ErrorKind::kResource) return worker;
    if (!wait_for_others(kind, which, worker.error())) return worker;
    if (give_up && give_up()) return cancelled();
  }
}

bool WorkerPool::wait_for_others(const WorkerKind& kind, Which which, const Status& refused) {
  WorkerPtr ended;
  bool tell = false;
  {
    const MutexLock lock(mutex_);
    if (!idle_.empty()) {
      const bool usable =
          which == Which::kAny &&
          std::ranges::any_of(idle_, [&](const WorkerPtr& each) { return each->kind() == kind; });
      if (usable) return true;
      ended = std::move(idle_.front());
      idle_.pop_front();
      return true;
    }
    // Each of the others that is not stuck itself has a worker, or finds out soon.
    if (stuck_ + 1 >= calling_) return false;
    ++stuck_;
    tell = !std::exchange(told_, true);
    came_back_.wait_for(mutex_, std::chrono::milliseconds(20));
    --stuck_;
  }
  if (tell) {
    guard_report("fewer workers than wanted, calls wait for each other: " +
                 std::string(refused.message()));
  }
  return true;
}

WorkerPtr WorkerPool::idle_of(const WorkerKind& kind) {
  const auto last = std::find_if(idle_.rbegin(), idle_.rend(), [&kind](const WorkerPtr& worker) {
    return worker->kind() == kind;
  });
  if (last == idle_.rend()) return nullptr;
  WorkerPtr worker = std::move(*last);
  idle_.erase(std::next(last).base());
  return worker;
}

WorkerPtr WorkerPool::take_idle(const WorkerKind& kind, const Channel::GiveUp& give_up,
                                bool& gave_up) {
  for (;;) {
    WorkerPtr dropped;  // ends when nothing is locked any more
    {
      const MutexLock lock(mutex_);
      if (WorkerPtr worker = idle_of(kind)) return worker;
      if (calling_ <= 1 || account_->try_reserve(kWorkerBytes)) return nullptr;
      if (idle_.empty()) {
        came_back_.wait_for(mutex_, std::chrono::milliseconds(20));
      } else {
        dropped = std::move(idle_.front());  // of another kind: makes room
        idle_.pop_front();
      }
    }
    gave_up = give_up && give_up();
    if (gave_up) return nullptr;
  }
}

Result<WorkerPtr> WorkerPool::start(const WorkerKind& kind) {
  SharedMemory::Piece beat = memory_->take(account_, sizeof(Beat));
  if (!beat) return out_of_resource("shared memory: no address is left for another worker");
  SW_ASSIGN(Spawner::Spawned spawned, spawner_->spawn(memory_->fd()));
  auto worker = std::make_unique<WorkerProcess>(spawner_, std::move(spawned), std::move(beat),
                                                memory_, alive_, kind);
  if (kind.sandboxed) worker->channel().expect_at_most(kMostFromStrangers);
  if (kind != WorkerKind()) {
    MessageWriter become;
    write_kind(kind, become.add(WorkerVerb::kBecome));
    // Into an empty socket. One that died meanwhile is found dead by whoever asks it first.
    worker->channel().send(become.bytes(), nullptr);
  }
  ++started_;
  sample(*worker);
  const std::size_t held = spawner_->memory();
  {
    const MutexLock lock(mutex_);
    if (held > spawner_paid_.bytes()) {
      bytes_elsewhere() += held - spawner_paid_.bytes();
      spawner_paid_.release();
      spawner_paid_ = account_->charge(held);
      spawner_paid_.touch();
    }
  }
  keep_spare();
  return worker;
}

void WorkerPool::keep_spare() {
  {
    const MutexLock lock(mutex_);
    if (spare_paid_.bytes() == 0) {
      auto paid = account_->try_reserve(kWorkerBytes);
      if (!paid) return;
      spare_paid_ = std::move(*paid);
      spare_paid_.touch();
      bytes_elsewhere() += kWorkerBytes;
    }
  }
  spawner_->keep_spare(true);
  bool given_up = false;
  {
    const MutexLock lock(mutex_);
    given_up = spare_paid_.bytes() == 0;
  }
  if (given_up) spawner_->keep_spare(false);
}

std::size_t WorkerPool::give_up_spare() {
  const std::size_t bytes = spare_paid_.bytes();
  bytes_elsewhere() -= bytes;
  spare_paid_.release();
  return bytes;
}

std::size_t WorkerPool::sample(WorkerProcess& worker) {
  const std::size_t bytes = kWorkerBytes + worker.sample_memory();
  // Small changes are not worth the budget's lock.
  if (bytes > worker.paid() || bytes + kWorkerBytes / 4 < worker.paid()) {
    worker.pay({});
    worker.pay(account_->charge(bytes));
  }
  return bytes;
}

std::size_t WorkerPool::recycle_at(const WorkerKind& kind) const {
  std::size_t callers = 0;
  {
    const MutexLock lock(mutex_);
    callers = std::max<std::size_t>(most_calling_, 2);
  }
  const std::size_t share = std::max(budget_.limit() / 2 / callers, kLeastRecycled);
  const std::size_t own = kind.memory_limit > 0 ? kind.memory_limit / 2 : kRecycleAt;
  return std::min({kRecycleAt, share, own});
}

bool WorkerPool::overgrown(WorkerProcess& worker) {
  const bool lately = now_ns() - worker.sampled_at() < kLookNs;
  const std::size_t held = lately ? worker.paid() : sample(worker);
  return held > kWorkerBytes + recycle_at(worker.kind()) || worker.kept_bytes() > kMostKept;
}

void WorkerPool::give_back(WorkerPtr worker) {
  const bool grown = overgrown(*worker);
  WorkerPtr dropped;
  const auto same = [kind = worker->kind()](const WorkerPtr& one) { return one->kind() == kind; };
  const MutexLock lock(mutex_);
  if (!grown) idle_.push_back(std::move(worker));
  // Of each kind as many as have been busy at once: a pass gives back those that it takes again.
  if (static_cast<std::size_t>(std::ranges::count_if(idle_, same)) > most_calling_) {
    const auto oldest = std::ranges::find_if(idle_, same);
    dropped = std::move(*oldest);
    idle_.erase(oldest);
  }
  came_back_.notify_all();
}

std::size_t WorkerPool::idle() const {
  const MutexLock lock(mutex_);
  return idle_.size();
}

std::size_t WorkerPool::end_idle() {
  if (!home_.here()) return 0;
  std::deque<WorkerPtr> ended;
  std::size_t bytes = 0;
  {
    const MutexLock lock(mutex_);
    bytes += give_up_spare();
    ended.swap(idle_);
    most_calling_ = std::max<std::size_t>(calling_, 1);
  }
  for (const WorkerPtr& worker : ended) bytes += worker->paid();
  ended.clear();
  if (*alive_ > 0) {
    spawner_->keep_spare(false);
    return bytes;
  }
  // One that starts at this moment is killed with it, and started again by whoever called it.
  spawner_->rest();
  const MutexLock lock(mutex_);
  bytes += spawner_paid_.bytes();
  bytes_elsewhere() -= spawner_paid_.bytes();
  spawner_paid_.release();
  return bytes;
}

}  // namespace spillway
