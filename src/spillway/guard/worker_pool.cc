#include "spillway/guard/worker_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/guard/exchange.h"
#include "spillway/guard/watch.h"
#include "spillway/guard/worker_verbs.h"
#include "spillway/memory/activity.h"
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

WorkerPool::Guarantee::Guarantee(std::shared_ptr<WorkerPool> pool) : pool_(std::move(pool)) {
  {
    const MutexLock lock(pool_->mutex_);
    ++pool_->guarantees_;
    pool_->pay_for_spawner();
  }
  pool_->keep_guarantee();
}

WorkerPool::Guarantee::~Guarantee() {
  {
    const MutexLock lock(pool_->mutex_);
    if (--pool_->guarantees_ > 0) return;
  }
  pool_->account_->drop_floor();
  pool_->keep_guarantee();  // for one that came meanwhile
}

void WorkerPool::keep_guarantee() {
  {
    const MutexLock lock(mutex_);
    if (guarantees_ == 0) return;
  }
  // Where there is no room the pass goes on without: what it then waits for can be refused.
  static_cast<void>(account_->raise_floor(expected_bytes()).ok());
}

Status WorkerPool::check_home() const {
  if (home_.here()) return {};
  return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                       "this process was forked from the one that has the workers, and they do not "
                       "come along: make what is isolated or guarded anew in the child");
}

void WorkerPool::wait_a_little() {
  ++waiting_;
  {
    const Parked parked(budget_);
    came_back_.wait_for(mutex_, std::chrono::milliseconds(20));
  }
  --waiting_;
}

Result<WorkerPtr> WorkerPool::Calling::take(const WorkerKind& kind, Which which,
                                            const Channel::GiveUp& give_up) {
  SW_RETURN_IF_ERROR(pool_.check_home());
  if (!pool_.ready_.ok()) return pool_.ready_;
  const DoneByWorker starting(0);
  for (;;) {
    auto worker = pool_.try_take(kind, which);
    if (!worker.ok() && worker.error().kind() != ErrorKind::kResource) return worker;
    if (worker.ok() && worker.value() != nullptr) return worker;
    if (give_up && give_up()) return cancelled();
    const Status* refused = worker.ok() ? nullptr : &worker.error();
    if (pool_.make_way(kind, which) || pool_.wait_for_others(refused)) continue;
    if (!worker.ok()) return worker;
    worker = pool_.start_when_there_is_room(kind, which, give_up);
    if (!worker.ok() || worker.value() != nullptr) return worker;
  }
}

Result<WorkerPtr> WorkerPool::try_take(const WorkerKind& kind, Which which) {
  std::optional<Reservation> room;
  std::vector<WorkerPtr> dead;  // buried when nothing is locked any more
  {
    const MutexLock lock(mutex_);
    if (which == Which::kAny) {
      if (WorkerPtr worker = idle_of(kind, dead)) return worker;
    }
    if (!pay_for_spawner()) return WorkerPtr();
    room = account_->try_reserve(expected_bytes());
    if (!room) return WorkerPtr();
  }
  return start(kind, std::move(*room));
}

bool WorkerPool::has_idle(const WorkerKind& kind, Which which) const {
  return which == Which::kAny && std::ranges::any_of(idle_, [&kind](const WorkerPtr& each) {
           return each->kind() == kind;
         });
}

bool WorkerPool::make_way(const WorkerKind& kind, Which which) {
  WorkerPtr ended;  // when nothing is locked any more
  const MutexLock lock(mutex_);
  if (idle_.empty()) return false;
  if (has_idle(kind, which)) return true;  // came back meanwhile
  ended = std::move(idle_.front());
  idle_.pop_front();
  return true;
}

bool WorkerPool::wait_for_others(const Status* refused) {
  bool tell = false;
  {
    const MutexLock lock(mutex_);
    // Each of the others that does not wait itself has a worker, or finds out soon.
    if (waiting_ + 1 >= calling_) return false;
    tell = refused != nullptr && !std::exchange(told_, true);
    wait_a_little();
  }
  if (tell) {
    guard_report("fewer workers than wanted, calls wait for each other: " +
                 std::string(refused->message()));
  }
  return true;
}

Result<WorkerPtr> WorkerPool::start_when_there_is_room(const WorkerKind& kind, Which which,
                                                       const Channel::GiveUp& give_up) {
  std::size_t spawner = 0;
  {
    const MutexLock lock(mutex_);
    if (starting_) {
      wait_a_little();
      return WorkerPtr();
    }
    starting_ = true;
    ++waiting_;
    if (!pay_for_spawner()) spawner = expected_of_spawner();
  }
  const auto enough = [&] {
    if (give_up && give_up()) return true;
    const MutexLock lock(mutex_);
    return has_idle(kind, which);
  };
  auto room = account_->reserve(spawner, enough);
  Reservation for_spawner;
  if (room.ok()) {
    for_spawner = std::move(room).value();
    room = account_->reserve(expected_bytes(), enough);
  }
  {
    const MutexLock lock(mutex_);
    starting_ = false;
    --waiting_;
    if (room.ok() && spawner_paid_.bytes() == 0) spawner_paid_ = std::move(for_spawner);
    came_back_.notify_all();
  }
  if (room.ok()) return start(kind, std::move(room).value());
  const bool cancels = room.error().code() == Code::kCancelled;
  if (!cancels || interrupted() || (give_up && give_up())) return std::move(room).status();
  return WorkerPtr();
}

WorkerPtr WorkerPool::idle_of(const WorkerKind& kind, std::vector<WorkerPtr>& dead) {
  for (;;) {
    const auto last = std::find_if(idle_.rbegin(), idle_.rend(), [&kind](const WorkerPtr& worker) {
      return worker->kind() == kind;
    });
    if (last == idle_.rend()) return nullptr;
    WorkerPtr worker = std::move(*last);
    idle_.erase(std::next(last).base());
    if (worker->alive()) return worker;
    dead.push_back(std::move(worker));
  }
}

std::size_t WorkerPool::expected_bytes() const {
  return std::min<std::size_t>(expected_, budget_.limit() / 4);
}

std::size_t WorkerPool::expected_of_spawner() const {
  return std::min(spawner_bytes_, budget_.limit() / 4);
}

bool WorkerPool::pay_for_spawner() {
  if (spawner_paid_.bytes() >= expected_of_spawner()) return true;
  spawner_paid_.release();
  auto paid = account_->try_reserve(expected_of_spawner());
  if (paid) spawner_paid_ = std::move(*paid);
  return paid.has_value();
}

// What was reserved for it becomes what it holds.
void WorkerPool::settle_spawner() {
  const std::size_t held = spawner_->memory();
  const MutexLock lock(mutex_);
  if (held > spawner_paid_.bytes()) {
    spawner_paid_.release();
    auto paid = account_->try_reserve(held);
    spawner_paid_ = paid ? std::move(*paid) : account_->charge(held);
  } else {
    spawner_paid_.shrink(held);
  }
  spawner_paid_.touch();
  bytes_elsewhere() += held - spawner_bytes_elsewhere_;
  spawner_bytes_elsewhere_ = held;
  spawner_bytes_ = held;
}

Result<WorkerPtr> WorkerPool::start(const WorkerKind& kind, Reservation room) {
  static_assert(sizeof(Beat) <= SharedMemory::kPage);
  SharedMemory::Piece beat = memory_->take(room.split(SharedMemory::kPage));
  if (!beat) return out_of_resource("shared memory: no address is left for another worker");
  SW_ASSIGN(Spawner::Spawned spawned, spawner_->spawn(memory_->fd()));
  auto worker = std::make_unique<WorkerProcess>(spawner_, std::move(spawned), std::move(beat),
                                                memory_, alive_, kind);
  worker->pay(std::move(room));
  if (kind != WorkerKind()) {
    MessageWriter become;
    write_kind(kind, become.add(WorkerVerb::kBecome));
    // Into an empty socket. One that died meanwhile is found dead by whoever asks it first.
    worker->channel().send(numbered(0, become.bytes()), nullptr);
  }
  ++started_;
  sample(*worker);
  settle_spawner();
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
  const std::size_t more = bytes > worker.room() ? bytes - worker.room() : 0;
  // Small changes are not worth the budget's lock.
  if (more > worker.grown() || more + kWorkerBytes / 4 < worker.grown()) {
    worker.grow({});
    auto paid = account_->try_reserve(more);
    if (!paid && budget_.reclaim(more) > 0) paid = account_->try_reserve(more);
    // What its code allocates there is seen when it is done: then it may be a debt.
    worker.grow(paid ? std::move(*paid) : account_->charge(more));
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
  const std::size_t held = lately ? kWorkerBytes + worker.sampled_bytes() : sample(worker);
  return held > kWorkerBytes + recycle_at(worker.kind()) || worker.kept_bytes() > kMostKept;
}

void WorkerPool::give_back(WorkerPtr worker) {
  const bool grown = overgrown(*worker);
  // What it did not need after all is somebody else's; the next is expected to be like it.
  const std::size_t held = kWorkerBytes + worker->sampled_bytes();
  worker->shrink_room(held);
  const std::size_t expected = expected_;
  expected_ = std::max(held, expected - std::min(expected, expected / 8));
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
  {
    const MutexLock lock(mutex_);
    if (guarantees_ > 0) return bytes;
  }
  // One that starts at this moment is killed with it, and started again by whoever called it.
  spawner_->rest();
  const MutexLock lock(mutex_);
  bytes += spawner_paid_.bytes();
  bytes_elsewhere() -= std::exchange(spawner_bytes_elsewhere_, 0);
  spawner_paid_.release();
  return bytes;
}

}  // namespace spillway
