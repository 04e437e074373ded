#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/base/status.h"

namespace spillway {

class Account;
class Budget;
using AccountPtr = std::shared_ptr<Account>;

// The right to some bytes. Move-only; gives them back when it dies, on any thread, taking only the
// budget's own short lock.
class [[nodiscard]] Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept { *this = std::move(other); }
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { release(); }

  std::size_t bytes() const { return bytes_; }
  const AccountPtr& account() const { return account_; }
  // Gives back all but `bytes`.
  void shrink(std::size_t bytes);
  // The right to `bytes` of them, taken out of this one: nobody else can come between.
  Reservation split(std::size_t bytes);
  // Adds the right to more bytes of the same account. False, and nothing changed, where the two
  // came out of the guarantees of different accounts.
  bool absorb(Reservation& more);
  // For the element that is handed on now: its bytes are those that its account's guarantee is for,
  // wherever they came from when they were made, so the pool gets back as much as is unspent of it.
  // Says how much that is.
  std::size_t use_guarantee();
  // R6, for an element that the user gets: its bytes leave the guarantee, which is for the next
  // one. The guarantee misses them until the pool has as many; look-ahead leaves them alone.
  void leave_guarantee();
  // For a row that waits in a stage for the output it becomes part of: it moves to that stage's
  // account and its guarantee, as far as that has room. Never waits; without room nothing changes.
  void enter_guarantee(const AccountPtr& to);
  // Rule R4: entering a buffer moves the charge to the buffer's account, and off any guarantee.
  // Never waits; false (and nothing changed) when the pool has no room for what a guarantee held,
  // or while there are debts: what is held beyond the limit must not settle down.
  bool transfer(const AccountPtr& to);
  // Says that the bytes, or so many of them, are now in physical memory (see Budget::untracked).
  // What is being filled for long says so as it goes: until then it looks like somebody else's.
  void touch() { touch(bytes_); }
  void touch(std::size_t bytes);
  void release();

 private:
  friend class Account;
  friend class Budget;
  AccountPtr account_;
  std::size_t bytes_ = 0;
  std::size_t from_floor_ = 0;  // part that came out of the account's guarantee
  AccountPtr lender_;           // whose guarantee that was
  std::size_t touched_ = 0;
};

// A line of the ledger: the process, a pipeline, or a stage. Thread-safe; outlives its
// reservations (they hold it).
//
// Rules (ARCHITECTURE.md): a stage's *floor* is its guarantee (R2): only a required reservation,
// made for the element everybody waits for (R3), may use it; everything else comes from the pool.
class Account : public std::enable_shared_from_this<Account> {
 public:
  const std::string& name() const { return name_; }

  // For windows and buffers: takes pool bytes or nothing. Never waits (R4).
  std::optional<Reservation> try_reserve(std::size_t bytes);
  // For look-ahead, whose rows cannot be given up again: the same where the pool has room for
  // another such row and for what guarantees miss, so that what is waited for is never blocked.
  std::optional<Reservation> try_ahead(std::size_t bytes);

  // For the element that is waited for: pool, then the guarantee, then what others can give up
  // (in the order of ReclaimOrder), then waits while any engine thread still works. When everyone
  // waits and it still does not fit: kResource with the table of holders (R7). `give_up`, asked
  // while it waits, ends that (kCancelled). Not with the GIL.
  Result<Reservation> reserve(std::size_t bytes, const std::function<bool()>& give_up = nullptr);

  // For bytes that exist already (Python made them): always succeeds, may go into debt, which
  // try_reserve and reserve then repay by waiting. Never waits.
  Reservation charge(std::size_t bytes);
  // For what is known of rows that are kept, and stays as long: never out of a guarantee, which is
  // for the element that is waited for. Always succeeds, may go into debt. Never waits.
  Reservation owe(std::size_t bytes);
  // Before somebody makes bytes that will be charged: waits as reserve() does until about as many
  // would be granted, and takes none.
  Status wait_for_room(std::size_t bytes);
  // kResource (ElementTooLarge, with the table of holders) when not even an empty budget has room.
  Status check_possible(std::size_t bytes);

  // Raises the guarantee to `bytes`, taking the difference from the pool. Fails with FloorTooHigh
  // when the sum of all guarantees would pass the limit, with BudgetError when only others hold
  // too much now. Never lowers it.
  Status raise_floor(std::size_t bytes);
  // The same without taking anything from the pool now: the guarantee misses the difference. False,
  // and nothing changed, when the sum of all guarantees would pass the limit.
  bool promise_floor(std::size_t bytes);
  void drop_floor();

  // The guarantee of `lender` may be used too, when this account's own is spent (R10, R11).
  void borrow_from(AccountPtr lender);

  void note_exported(std::ptrdiff_t bytes);
  const std::string& line() const { return line_; }
  Budget& budget() const { return budget_; }
  void set_stop(const std::atomic<bool>* stop) { stop_.store(stop); }

  std::size_t held() const;
  // The most that it ever held at a time.
  std::size_t peak() const;
  // How long reserve() has waited on its behalf, all threads together.
  std::int64_t waited_ns() const { return waited_ns_.load(); }
  std::size_t floor() const;

 private:
  friend class Budget;
  friend class Reservation;
  Account(Budget& budget, std::string name, std::string line, AccountPtr parent)
      : budget_(budget),
        name_(std::move(name)),
        line_(std::move(line)),
        parent_(std::move(parent)) {}

  Budget& budget_;
  const std::string name_;
  const std::string line_;
  const AccountPtr parent_;
  std::atomic<const std::atomic<bool>*> stop_{nullptr};  // set: a waiting reserve gives up
  std::atomic<std::int64_t> waited_ns_{0};
  // Guarded by the budget's mutex.
  std::size_t unspent() const { return floor_ - floor_used_ - floor_missing_; }
  AccountPtr lender_;
  std::size_t held_ = 0;
  std::size_t peak_ = 0;
  std::size_t floor_ = 0;
  std::size_t floor_used_ = 0;
  std::size_t floor_missing_ = 0;  // neither used nor set aside: not there
  bool floor_dropped_ = false;     // what comes back to the guarantee goes to the pool
  std::size_t exported_ = 0;
};

// For a call whose result will be charged when it is there: the room that was reserved for it
// before it began goes with the first charge that this thread makes to the same account, so that
// the result is not paid for twice. One at a time a thread.
class RoomForResult {
 public:
  explicit RoomForResult(Reservation& room);
  ~RoomForResult();
  RoomForResult(const RoomForResult&) = delete;
  RoomForResult& operator=(const RoomForResult&) = delete;

 private:
  Reservation* const before_;
};

// What gives way, first to last.
enum class ReclaimOrder : std::uint8_t { kIdleSlabs, kDroppableCache, kSpill, kShrink, kCount };

struct LedgerRow {
  std::string name;
  std::string line;
  int depth = 0;
  std::size_t held = 0;
  std::size_t peak = 0;
  std::size_t floor = 0;
  std::size_t exported = 0;
};
struct Ledger {
  std::size_t limit = 0;      // what the user or the machine allowed
  std::size_t effective = 0;  // after what the rest of the process holds
  std::size_t used = 0;
  std::size_t peak = 0;
  std::size_t untracked = 0;
  std::size_t container = 0;
  std::string bound_by;
  std::vector<LedgerRow> rows;
  std::string to_string() const;
};

// One a process (tests make their own). Invariant: used() <= effective limit, except for debts
// made by Account::charge; a reservation is granted in one step with the test for room.
class Budget {
 public:
  // A budget whose limit only follows `limit`; with `watch_process` it also shrinks so that the
  // process stays inside its container.
  explicit Budget(std::size_t limit, bool watch_process = false);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
  ~Budget();

  // The process's budget: SPILLWAY_MEMORY_LIMIT, else derived from the machine. Never destroyed.
  static Budget& process();

  void set_limit(std::size_t bytes);
  // From now on only the limit counts, whatever the container holds: for a worker, whose memory is
  // watched by the process that it works for.
  void stop_watching() { watch_process_ = false; }
  std::size_t limit() const;
  std::size_t effective_limit();
  std::size_t used() const;
  std::size_t free_pool();
  // What guarantees miss (Reservation::leave_guarantee): look-ahead leaves as much alone.
  std::size_t missing() const;
  // What the user still refers to of the bytes handed out.
  std::size_t exported() const { return exported_.load(std::memory_order_relaxed); }

  AccountPtr open_account(std::string name, std::string line = "", AccountPtr parent = nullptr);

  // Called (no lock of ours held) when bytes are wanted; frees what it can without waiting,
  // reserving or registering, and says about how much. Deregisters when the handle dies, which
  // waits for a call in progress.
  using Reclaim = std::function<std::size_t(std::size_t wanted)>;
  class Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept { *this = std::move(other); }
    Registration& operator=(Registration&& other) noexcept;
    ~Registration() { reset(); }
    void reset();

   private:
    friend class Budget;
    Budget* budget_ = nullptr;
    std::uint64_t id_ = 0;
  };
  Registration on_pressure(ReclaimOrder order, Reclaim reclaim);
  std::size_t reclaim(std::size_t wanted);

  // Last resort before an error: lets the front drop garbage that still refers to our bytes, or
  // move some of what it keeps to disk, so that about `wanted` more are free.
  using LastResort = std::function<void(std::size_t wanted)>;
  void set_last_resort(LastResort hook);

  // Bytes the rest of the process holds: its anonymous memory minus what of ours is touched.
  // Reserved but untouched bytes do not hide them.
  std::size_t untracked() const;
  // Of what is held, what is in physical memory as far as it was said.
  std::size_t touched() const { return touched_; }

  Ledger ledger();

  // Bookkeeping for "everyone waits": see activity.h.
  std::atomic<int> working{0};    // threads that will release bytes by themselves
  std::atomic<int> consuming{0};  // consumers inside next()

 private:
  friend class Account;
  friend class Reservation;
  struct Reclaimer {
    std::uint64_t id;
    Reclaim reclaim;
  };

  bool grant(Account& account, std::size_t bytes, bool required, Reservation& out)
      SW_REQUIRES(mutex_);
  void return_floor(Account& lender, std::size_t bytes) SW_REQUIRES(mutex_);
  void miss(Account& account, std::size_t bytes) SW_REQUIRES(mutex_);
  std::size_t find_missing(Account& account, std::size_t bytes) SW_REQUIRES(mutex_);
  void fill_guarantees() SW_REQUIRES(mutex_);
  std::size_t pool_free() const SW_REQUIRES(mutex_);
  bool in_debt() const SW_REQUIRES(mutex_) { return used_ + floors_unspent_ > effective_; }
  void refresh() SW_REQUIRES(mutex_);
  void add_held(Account& account, std::size_t bytes) SW_REQUIRES(mutex_);
  void sub_held(Account& account, std::size_t bytes) SW_REQUIRES(mutex_);
  Status refusal(Account& account, std::size_t bytes);
  void trim_heap();

  std::atomic<bool> watch_process_;
  mutable Mutex mutex_;
  CondVar released_;
  std::size_t limit_ SW_GUARDED_BY(mutex_);
  std::size_t effective_ SW_GUARDED_BY(mutex_);
  std::size_t container_ SW_GUARDED_BY(mutex_) = 0;
  std::string bound_by_ SW_GUARDED_BY(mutex_);
  std::int64_t sampled_at_ SW_GUARDED_BY(mutex_) = 0;
  std::int64_t machine_read_at_ SW_GUARDED_BY(mutex_) = 0;
  std::size_t others_ SW_GUARDED_BY(mutex_) = 0;  // other processes of the container
  std::size_t used_ SW_GUARDED_BY(mutex_) = 0;
  std::size_t peak_ SW_GUARDED_BY(mutex_) = 0;
  std::size_t floors_unspent_ SW_GUARDED_BY(mutex_) = 0;
  std::size_t floors_ SW_GUARDED_BY(mutex_) = 0;
  std::size_t floors_missing_ SW_GUARDED_BY(mutex_) = 0;
  std::vector<AccountPtr> missing_ SW_GUARDED_BY(mutex_);  // whose guarantees miss bytes
  int waiting_ SW_GUARDED_BY(mutex_) = 0;
  std::atomic<std::size_t> touched_{0};
  std::atomic<std::size_t> exported_{0};  // sum over the accounts, each byte once
  std::vector<std::weak_ptr<Account>> accounts_ SW_GUARDED_BY(mutex_);
  LastResort last_resort_ SW_GUARDED_BY(mutex_);

  Mutex reclaim_mutex_;  // held while reclaimers run; never together with mutex_ by them
  std::uint64_t next_id_ SW_GUARDED_BY(reclaim_mutex_) = 1;
  std::array<std::vector<Reclaimer>, static_cast<std::size_t>(ReclaimOrder::kCount)> reclaimers_
      SW_GUARDED_BY(reclaim_mutex_);
};

}  // namespace spillway
