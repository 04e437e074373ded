#include "spillway/memory/budget.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <unordered_map>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/mutant.h"
#include "spillway/base/test_point.h"
#include "spillway/memory/activity.h"
#include "spillway/memory/asked_bytes.h"
#include "spillway/memory/machine.h"
#include "spillway/memory/scoped_refusal.h"
#include "spillway/observe/board.h"

namespace spillway {
namespace {

using std::chrono::milliseconds;
constexpr std::size_t kNoLimit = std::size_t{1} << 50;
constexpr std::int64_t kSampleEveryNs = 10'000'000;        // statm: 0.5 us
constexpr std::int64_t kReadMachineEveryNs = 100'000'000;  // cgroup files: tens of us

// Adds the time of its life: made when a reservation begins to wait.
class Waited {
 public:
  explicit Waited(std::atomic<std::int64_t>& total_ns) : total_ns_(total_ns) {}
  ~Waited() { total_ns_ += now_ns() - since_; }
  Waited(const Waited&) = delete;
  Waited& operator=(const Waited&) = delete;

 private:
  std::atomic<std::int64_t>& total_ns_;
  const std::int64_t since_ = now_ns();
};

thread_local Reservation* room_for_result = nullptr;

// Looks, 5 ms apart, at which everyone must be found waiting before a reservation is refused: a
// thread that was woken, or a task that was queued, does not count as working yet.
constexpr int kSureAfter = 5;

}  // namespace

// ---- Reservation

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  release();
  account_ = std::move(other.account_);
  lender_ = std::move(other.lender_);
  bytes_ = std::exchange(other.bytes_, 0);
  from_floor_ = std::exchange(other.from_floor_, 0);
  touched_ = std::exchange(other.touched_, 0);
  return *this;
}

void Reservation::touch(std::size_t bytes) {
  const std::size_t now = std::min(bytes, bytes_);
  if (now <= touched_ || account_ == nullptr) return;
  account_->budget_.touched_ += now - std::exchange(touched_, now);
}

void Reservation::shrink(std::size_t bytes) {
  if (account_ == nullptr || bytes >= bytes_) return;
  Budget& budget = account_->budget_;
  const MutexLock lock(budget.mutex_);
  const std::size_t back = bytes_ - bytes;
  const std::size_t to_floor = std::min(from_floor_, back);
  if (to_floor > 0) {
    budget.return_floor(*lender_, to_floor);
    from_floor_ -= to_floor;
  }
  budget.sub_held(*account_, back);
  if (touched_ > bytes) budget.touched_ -= std::exchange(touched_, bytes) - bytes;
  bytes_ = bytes;
  budget.fill_guarantees();
  if (budget.waiting_ > 0) budget.released_.notify_all();
}

Reservation Reservation::split(std::size_t bytes) {
  Reservation out;
  if (account_ == nullptr) return out;
  out.account_ = account_;
  out.lender_ = lender_;
  out.bytes_ = std::min(bytes, bytes_);
  out.from_floor_ = std::min(from_floor_, out.bytes_);
  out.touched_ = std::min(touched_, out.bytes_);
  bytes_ -= out.bytes_;
  from_floor_ -= out.from_floor_;
  touched_ -= out.touched_;
  return out;
}

bool Reservation::absorb(Reservation& more) {
  if (more.account_ == nullptr) return true;
  if (account_ == nullptr) {
    *this = std::move(more);
    return true;
  }
  if (account_ != more.account_) return false;
  if (from_floor_ > 0 && more.from_floor_ > 0 && lender_ != more.lender_) return false;
  if (more.from_floor_ > 0) lender_ = std::move(more.lender_);
  bytes_ += std::exchange(more.bytes_, 0);
  from_floor_ += std::exchange(more.from_floor_, 0);
  touched_ += std::exchange(more.touched_, 0);
  more.account_ = nullptr;
  more.lender_ = nullptr;
  return true;
}

std::size_t Reservation::use_guarantee() {
  if (account_ == nullptr) return 0;
  Budget& budget = account_->budget_;
  const MutexLock lock(budget.mutex_);
  if (from_floor_ > 0 && lender_ != account_) return 0;
  // What the guarantee misses is found in these bytes first: that frees nothing.
  const std::size_t found = budget.find_missing(*account_, bytes_ - from_floor_);
  const std::size_t moved = std::min(account_->unspent(), bytes_ - from_floor_ - found);
  if (found + moved == 0) return 0;
  lender_ = account_;
  from_floor_ += found + moved;
  account_->floor_used_ += moved;
  budget.floors_unspent_ -= moved;
  budget.fill_guarantees();
  if (budget.waiting_ > 0) budget.released_.notify_all();
  return moved;
}

void Reservation::leave_guarantee() {
  if (account_ == nullptr || from_floor_ == 0) return;
  Budget& budget = account_->budget_;
  AccountPtr lender;  // may die here, outside the lock
  const MutexLock lock(budget.mutex_);
  lender = std::move(lender_);
  const std::size_t left = std::exchange(from_floor_, 0);
  lender->floor_used_ -= left;
  if (lender->floor_dropped_) {
    lender->floor_ -= left;
    budget.floors_ -= left;
    return;
  }
  budget.miss(*lender, left);
  budget.fill_guarantees();
}

void Reservation::enter_guarantee(const AccountPtr& to) {
  if (account_ == nullptr || account_ == to || &account_->budget_ != &to->budget_) return;
  Budget& budget = account_->budget_;
  AccountPtr before;  // may die here, outside the lock
  AccountPtr lender;
  const MutexLock lock(budget.mutex_);
  const std::size_t room = to->floor_missing_ + to->unspent();
  if (room < bytes_) return;
  const std::size_t found = budget.find_missing(*to, bytes_);
  to->floor_used_ += bytes_ - found;
  budget.floors_unspent_ -= bytes_ - found;
  if (from_floor_ > 0) {
    budget.return_floor(*lender_, from_floor_);
    lender = std::move(lender_);
  }
  budget.sub_held(*account_, bytes_);
  budget.add_held(*to, bytes_);
  from_floor_ = bytes_;
  lender_ = to;
  before = std::exchange(account_, to);
  budget.fill_guarantees();
  if (budget.waiting_ > 0) budget.released_.notify_all();
}

bool Reservation::transfer(const AccountPtr& to) {
  if (account_ == nullptr || account_ == to) return true;
  if (&account_->budget_ != &to->budget_) return false;
  Budget& budget = account_->budget_;
  if (&to->budget_ != &budget) return false;
  AccountPtr before;  // may die here, outside the lock
  AccountPtr lender;
  const MutexLock lock(budget.mutex_);
  if (budget.in_debt()) return false;
  if (from_floor_ > 0) {
    if (budget.pool_free() < from_floor_) return false;
    budget.return_floor(*lender_, from_floor_);
    from_floor_ = 0;
    lender = std::move(lender_);
  }
  budget.sub_held(*account_, bytes_);
  budget.add_held(*to, bytes_);
  before = std::exchange(account_, to);
  return true;
}

void Reservation::release() {
  if (account_ == nullptr) return;
  shrink(0);
  account_ = nullptr;
  lender_ = nullptr;
}

// ---- Account

std::size_t Account::held() const {
  const MutexLock lock(budget_.mutex_);
  return held_;
}

std::size_t Account::peak() const {
  const MutexLock lock(budget_.mutex_);
  return peak_;
}

std::size_t Account::floor() const {
  const MutexLock lock(budget_.mutex_);
  return floor_;
}

void Account::note_exported(std::ptrdiff_t bytes) {
  const MutexLock lock(budget_.mutex_);
  for (Account* at = this; at != nullptr; at = at->parent_.get()) {
    at->exported_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at->exported_) + bytes);
  }
  budget_.exported_ += static_cast<std::size_t>(bytes);
}

void Account::borrow_from(AccountPtr lender) {
  const MutexLock lock(budget_.mutex_);
  lender_ = std::move(lender);
}

std::optional<Reservation> Account::try_reserve(std::size_t bytes) {
  Reservation out;
  const MutexLock lock(budget_.mutex_);
  budget_.refresh();
  if (!budget_.grant(*this, bytes, false, out)) return std::nullopt;
  return out;
}

std::optional<Reservation> Account::try_ahead(std::size_t bytes) {
  Reservation out;
  const MutexLock lock(budget_.mutex_);
  budget_.refresh();
  if (budget_.pool_free() < 2 * bytes + budget_.floors_missing_) return std::nullopt;
  if (!budget_.grant(*this, bytes, false, out)) return std::nullopt;
  return out;
}

Reservation Account::charge(std::size_t bytes) {
  if (room_for_result != nullptr && room_for_result->account().get() == this) {
    room_for_result->release();
  }
  Reservation out;
  const MutexLock lock(budget_.mutex_);
  budget_.refresh();
  if (!budget_.grant(*this, bytes, true, out)) {
    budget_.add_held(*this, bytes);
    out.account_ = shared_from_this();
    out.bytes_ = bytes;
  }
  return out;
}

Reservation Account::owe(std::size_t bytes) {
  Reservation out;
  const MutexLock lock(budget_.mutex_);
  budget_.refresh();
  budget_.add_held(*this, bytes);
  out.account_ = shared_from_this();
  out.bytes_ = bytes;
  return out;
}

Status Account::wait_for_room(std::size_t bytes) { return std::move(reserve(bytes)).status(); }

Status Account::check_possible(std::size_t bytes) {
  if (bytes <= budget_.effective_limit()) return {};
  return budget_.refusal(*this, bytes);
}

Result<Reservation> Account::reserve(std::size_t bytes, const std::function<bool()>& give_up) {
  bool collected = false;
  int found_waiting = 0;
  std::optional<Doing> waiting;
  std::optional<Waited> waited;
  const bool outside = !Working::here();
#ifdef SW_TEST_POINTS
  if (ScopedRefusal::is_due()) return budget_.refusal(*this, bytes);
#endif
  for (;;) {
    {
      Reservation out;
      const MutexLock lock(budget_.mutex_);
      budget_.refresh();
      SW_TEST_POINT("budget.reserve.claim");
      if (budget_.grant(*this, bytes, true, out)) return out;
    }
    // What can never fit is refused before anything is spilled for it.
    if (bytes > budget_.limit()) return budget_.refusal(*this, bytes);
    if (give_up && give_up()) return cancelled();
    if (budget_.reclaim(bytes) > 0) continue;
    if (!waiting) {
      waited.emplace(waited_ns_);
      waiting.emplace(Phase::kMemory, stage_text(name_, "", line_), 0, -1, nullptr,
                      static_cast<std::int64_t>(bytes));
    }
    const Parked parked(budget_);
    if (const auto* stop = stop_.load(); stop != nullptr && stop->load()) return cancelled();
    if (interrupted()) return cancelled();
    const bool everyone_waits = budget_.working == 0 && (outside || budget_.consuming > 0);
    found_waiting = everyone_waits ? found_waiting + 1 : 0;
    if (found_waiting >= kSureAfter) {
      Budget::LastResort hook;
      {
        const MutexLock lock(budget_.mutex_);
        hook = budget_.last_resort_;
      }
      if (collected) return budget_.refusal(*this, bytes);
      collected = true;
      found_waiting = 0;
      if (hook) hook(bytes);
      budget_.trim_heap();
      continue;
    }
    const MutexLock lock(budget_.mutex_);
    ++budget_.waiting_;
    // In slices: a thread that parks does not notify, and Ctrl-C and stop must be seen.
    budget_.released_.wait_for(budget_.mutex_, milliseconds(5));
    --budget_.waiting_;
  }
}

Status Account::raise_floor(std::size_t bytes) {
  bool collected = false;
  bool never = false;
  for (;;) {
    std::size_t wanted = 0;
    Budget::LastResort hook;
    {
      const MutexLock lock(budget_.mutex_);
      budget_.refresh();
      if (bytes <= floor_) return {};
      wanted = bytes - floor_;
      // The bytes must be there: a guarantee on top of a full pool would break the limit.
      if (budget_.pool_free() >= wanted) {
        floor_ = bytes;
        floor_dropped_ = false;
        budget_.floors_ += wanted;
        budget_.floors_unspent_ += wanted;
        return {};
      }
      never = budget_.floors_ + wanted > budget_.effective_;
      if (never && (collected || budget_.effective_ == budget_.limit_)) break;
      hook = budget_.last_resort_;
    }
    if (!never && budget_.reclaim(wanted) > 0) continue;
    if (collected) break;
    collected = true;
    if (hook) hook(wanted);
    budget_.trim_heap();
  }
  Status refused = out_of_resource(
      name_, ": the guaranteed memory of all open stages must fit the limit: this stage needs ",
      format_bytes(AskedBytes::of(bytes)), " for one element\n", budget_.ledger().to_string());
  refused.edit().type = never ? "FloorTooHigh" : "BudgetError";
  refused.edit().line = line_;
  return refused;
}

bool Account::promise_floor(std::size_t bytes) {
  const MutexLock lock(budget_.mutex_);
  budget_.refresh();
  if (bytes <= floor_) return true;
  const std::size_t wanted = bytes - floor_;
  if (budget_.floors_ + wanted > budget_.effective_) return false;
  floor_ = bytes;
  floor_dropped_ = false;
  budget_.floors_ += wanted;
  budget_.miss(*this, wanted);
  budget_.fill_guarantees();
  return true;
}

void Account::drop_floor() {
  const AccountPtr kept = shared_from_this();  // whatever the list of those that miss bytes holds
  const MutexLock lock(budget_.mutex_);
  const std::size_t missing = budget_.find_missing(*this, floor_missing_);
  floor_used_ -= missing;
  floor_ -= missing;
  budget_.floors_ -= missing;
  const std::size_t unspent = floor_ - floor_used_;
  budget_.floors_ -= unspent;
  budget_.floors_unspent_ -= unspent;
  floor_ = floor_used_;
  floor_dropped_ = true;
  budget_.fill_guarantees();
  if (budget_.waiting_ > 0) budget_.released_.notify_all();
}

RoomForResult::RoomForResult(Reservation& room) : before_(std::exchange(room_for_result, &room)) {}
RoomForResult::~RoomForResult() { room_for_result = before_; }

// ---- Budget

Budget::Budget(std::size_t limit, bool watch_process)
    : watch_process_(watch_process), limit_(limit), effective_(limit) {}

Budget::~Budget() = default;

Budget& Budget::process() {
  static Budget& budget = *[] {
    std::size_t limit = 0;
    if (const char* text = std::getenv("SPILLWAY_MEMORY_LIMIT"); text != nullptr && *text != 0) {
      if (auto parsed = parse_bytes(text); parsed.ok()) limit = parsed.value();
    }
    if (limit == 0) limit = default_limit(read_machine_memory(), own_anonymous_bytes());
    return new Budget(limit, true);  // threads may outlive static destruction
  }();
  return budget;
}

void Budget::set_limit(std::size_t bytes) {
  const MutexLock lock(mutex_);
  limit_ = bytes;
  effective_ = bytes;
  sampled_at_ = 0;
  refresh();
}

std::size_t Budget::limit() const {
  const MutexLock lock(mutex_);
  return limit_;
}

std::size_t Budget::effective_limit() {
  const MutexLock lock(mutex_);
  refresh();
  return effective_;
}

std::size_t Budget::used() const {
  const MutexLock lock(mutex_);
  return used_;
}

std::size_t Budget::free_pool() {
  const MutexLock lock(mutex_);
  refresh();
  return pool_free();
}

std::size_t Budget::missing() const {
  const MutexLock lock(mutex_);
  return floors_missing_;
}

std::size_t Budget::pool_free() const {
  const std::size_t taken = used_ + floors_unspent_;
  return effective_ > taken ? effective_ - taken : 0;
}

std::size_t Budget::untracked() const {
  const std::size_t anonymous = own_anonymous_bytes() + bytes_elsewhere();
  const std::size_t touched = touched_;
  return anonymous > touched ? anonymous - touched : 0;
}

// Shrinks at once when the rest of the process grows, grows back 5 % of the limit a second.
void Budget::refresh() {
  if (mutant("ceiling_off")) {
    effective_ = limit_ = kNoLimit;
    return;
  }
  if (!watch_process_) {
    effective_ = limit_;
    return;
  }
  const std::int64_t now = coarse_now_ns();  // asked for every buffer
  if (now - sampled_at_ < kSampleEveryNs) return;
  const std::int64_t since = sampled_at_ == 0 ? 0 : now - sampled_at_;
  const bool first = sampled_at_ == 0;
  sampled_at_ = now;
  if (now - machine_read_at_ > kReadMachineEveryNs || container_ == 0) {
    machine_read_at_ = now;
    const MachineMemory machine = read_machine_memory();
    container_ = machine.container();
    bound_by_ = machine.bound_by;
    others_ = held_by_others(machine);
  }
  const std::size_t taken = container_reserve(container_) + untracked() + others_;
  const std::size_t room = container_ > taken ? container_ - taken : 0;
  const std::size_t target = std::max(std::min(limit_, room), floors_);
  if (first || target <= effective_) {
    effective_ = target;
  } else {
    const double step = static_cast<double>(limit_) * 0.05 * static_cast<double>(since) / 1e9;
    effective_ = std::min(target, effective_ + static_cast<std::size_t>(step));
  }
}

void Budget::add_held(Account& account, std::size_t bytes) {
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  for (Account* at = &account; at != nullptr; at = at->parent_.get()) {
    at->held_ += bytes;
    at->peak_ = std::max(at->peak_, at->held_);
  }
}

void Budget::sub_held(Account& account, std::size_t bytes) {
  used_ -= bytes;
  for (Account* at = &account; at != nullptr; at = at->parent_.get()) at->held_ -= bytes;
}

void Budget::return_floor(Account& lender, std::size_t bytes) {
  lender.floor_used_ -= bytes;
  if (lender.floor_dropped_) {
    lender.floor_ -= bytes;
    floors_ -= bytes;
  } else {
    floors_unspent_ += bytes;
  }
}

// The account's guarantee misses `bytes` more.
void Budget::miss(Account& account, std::size_t bytes) {
  if (bytes == 0) return;
  if (account.floor_missing_ == 0) missing_.push_back(account.shared_from_this());
  account.floor_missing_ += bytes;
  floors_missing_ += bytes;
}

// Up to `bytes` held otherwise are from now on what the guarantee missed, and used.
std::size_t Budget::find_missing(Account& account, std::size_t bytes) {
  const std::size_t found = std::min(account.floor_missing_, bytes);
  if (found == 0) return 0;
  account.floor_missing_ -= found;
  account.floor_used_ += found;
  floors_missing_ -= found;
  if (account.floor_missing_ == 0) {
    std::erase_if(missing_, [&](const AccountPtr& each) { return each.get() == &account; });
  }
  return found;
}

// What the pool has goes to guarantees that miss bytes before anybody else comes: whole ones, since
// a part of one would only be kept from those who could use it.
void Budget::fill_guarantees() {
  if (floors_missing_ == 0) return;
  std::erase_if(missing_, [this](const AccountPtr& account) SW_REQUIRES(mutex_) {
    const std::size_t missing = account->floor_missing_;
    if (pool_free() < missing) return false;
    account->floor_missing_ = 0;
    floors_missing_ -= missing;
    floors_unspent_ += missing;
    return true;
  });
}

bool Budget::grant(Account& account, std::size_t bytes, bool required, Reservation& out) {
  const std::size_t pool = pool_free();
  std::size_t from_floor = 0;
  Account* lender = nullptr;
  if (required && bytes <= pool) {
    // Bytes of the pool take the place of those that the guarantee misses.
    from_floor = find_missing(account, bytes);
    if (from_floor > 0) out.lender_ = account.shared_from_this();
  }
  if (bytes > pool) {
    if (!required) return false;
    // The nearest lender whose guarantee closes the gap: this stage's own first (R3), then the
    // one it runs inside of (R10, R11).
    for (Account* at = &account; at != nullptr; at = at->lender_.get()) {
      if (at->unspent() >= bytes - pool) {
        lender = at;
        break;
      }
    }
    if (lender == nullptr) return false;
    from_floor = bytes - pool;
    lender->floor_used_ += from_floor;
    floors_unspent_ -= from_floor;
    out.lender_ = lender->shared_from_this();
  }
  add_held(account, bytes);
  out.account_ = account.shared_from_this();
  out.bytes_ = bytes;
  out.from_floor_ = from_floor;
  return true;
}

AccountPtr Budget::open_account(std::string name, std::string line, AccountPtr parent) {
  AccountPtr account(new Account(*this, std::move(name), std::move(line), std::move(parent)));
  const MutexLock lock(mutex_);
  if (accounts_.size() >= 64 && (accounts_.size() & (accounts_.size() - 1)) == 0) {
    std::erase_if(accounts_, [](const auto& weak) { return weak.expired(); });
  }
  accounts_.push_back(account);
  return account;
}

Budget::Registration& Budget::Registration::operator=(Registration&& other) noexcept {
  reset();
  budget_ = std::exchange(other.budget_, nullptr);
  id_ = other.id_;
  return *this;
}

void Budget::Registration::reset() {
  if (budget_ == nullptr) return;
  Budget& budget = *std::exchange(budget_, nullptr);
  const MutexLock lock(budget.reclaim_mutex_);
  for (auto& group : budget.reclaimers_) {
    std::erase_if(group, [this](const Reclaimer& r) { return r.id == id_; });
  }
}

Budget::Registration Budget::on_pressure(ReclaimOrder order, Reclaim reclaim) {
  const MutexLock lock(reclaim_mutex_);
  Registration registration;
  registration.budget_ = this;
  registration.id_ = next_id_++;
  reclaimers_[static_cast<std::size_t>(order)].push_back({registration.id_, std::move(reclaim)});
  return registration;
}

std::size_t Budget::reclaim(std::size_t wanted) {
  const MutexLock lock(reclaim_mutex_);
  std::size_t freed = 0;
  for (const auto& group : reclaimers_) {
    for (const auto& reclaimer : group) {
      if (freed >= wanted) return freed;
      freed += reclaimer.reclaim(wanted - freed);
    }
  }
  return freed;
}

void Budget::set_last_resort(LastResort hook) {
  const MutexLock lock(mutex_);
  last_resort_ = std::move(hook);
}

// What was freed and malloc() keeps counts as held by the rest of the process: the arenas of
// threads that run the user's functions keep megabytes each.
void Budget::trim_heap() {
  if (!watch_process_) return;
  malloc_trim(0);
  const MutexLock lock(mutex_);
  sampled_at_ = machine_read_at_ = 0;  // nobody is refused for what was true a moment ago
  refresh();
}

Status Budget::refusal(Account& account, std::size_t bytes) {
  const Ledger now = ledger();
  std::size_t exported = 0;
  for (const auto& row : now.rows) {
    if (row.depth == 0) exported += row.exported;
  }
  const bool alone = bytes > now.effective;
  Status refused = out_of_resource(
      account.name_,
      alone ? ": one element is larger than the memory limit: needs "
            : ": no memory left that could be given up: needs ",
      format_bytes(AskedBytes::of(bytes)), ", limit ", format_bytes(now.effective), ", held ",
      format_bytes(now.used),
      exported > 0 ? " (" + format_bytes(exported) + " of it by your own code, in elements it kept)"
                   : std::string(),
      "\n", now.to_string(),
      exported > bytes ? "keep fewer elements, or copy the part you need\n"
                       : "raise memory_limit, or make elements, batches or windows smaller\n");
  refused.edit().type = alone ? "ElementTooLarge" : "BudgetError";
  refused.edit().line = account.line_;
  return refused;
}

Ledger Budget::ledger() {
  Ledger out;
  std::vector<AccountPtr> live;
  const MutexLock lock(mutex_);
  refresh();
  for (const auto& weak : accounts_) {
    if (auto account = weak.lock()) live.push_back(std::move(account));
  }
  // Children after their parent, in order of opening.
  std::unordered_map<const Account*, std::vector<const Account*>> children;
  for (const AccountPtr& account : live) children[account->parent_.get()].push_back(account.get());
  std::vector<std::pair<const Account*, int>> next;
  const auto enter = [&](const Account* parent, int depth) {
    const auto found = children.find(parent);
    if (found == children.end()) return;
    for (auto it = found->second.rbegin(); it != found->second.rend(); ++it) {
      next.emplace_back(*it, depth);
    }
  };
  enter(nullptr, 0);
  while (!next.empty()) {
    const auto [account, depth] = next.back();
    next.pop_back();
    out.rows.push_back({account->name_, account->line_, depth, account->held_, account->peak_,
                        account->floor_, account->exported_});
    enter(account, depth + 1);
  }
  out.limit = limit_;
  out.effective = effective_;
  out.used = used_;
  out.peak = peak_;
  out.container = container_;
  out.bound_by = bound_by_;
  out.untracked = watch_process_ ? untracked() : 0;
  return out;
}

std::string Ledger::to_string() const {
  std::ostringstream text;
  text << "memory: " << format_bytes(used) << " of " << format_bytes(effective) << " held";
  if (effective != limit) text << " (limit " << format_bytes(limit) << ")";
  text << ", peak " << format_bytes(peak);
  if (untracked > 0) text << ", the rest of the process " << format_bytes(untracked);
  text << '\n';
  std::size_t width = 5;
  for (const auto& row : rows) {
    width = std::max(width, row.name.size() + 2 * static_cast<std::size_t>(row.depth));
  }
  const auto cell = [&](const std::string& value) {
    text << std::string(value.size() < 11 ? 11 - value.size() : 1, ' ') << value;
  };
  if (rows.empty()) return text.str();
  text << std::string(width, ' ');
  for (const char* head : {"held", "peak", "guaranteed", "kept by you"}) cell(head);
  text << '\n';
  for (const auto& row : rows) {
    const std::string name = std::string(2 * static_cast<std::size_t>(row.depth), ' ') + row.name;
    text << name << std::string(width - name.size(), ' ');
    for (const std::size_t value : {row.held, row.peak, row.floor, row.exported}) {
      cell(value == 0 ? "-" : format_bytes(value));
    }
    if (!row.line.empty()) text << "  " << row.line;
    text << '\n';
  }
  return text.str();
}

}  // namespace spillway
