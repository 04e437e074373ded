#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/memory/budget.h"
#include "spillway/pipeline/state.h"

namespace spillway {

// Which iterator of a run: the same in another process. Iterators of one name that are in use at a
// time are numbered.
using OrderKey = std::pair<std::string, std::int64_t>;

// The order in which iterators of a run handed on rows, where that depends on timing. Thread-safe.
//
// A checkpoint is states that were taken some time ago, and how many rows to pass over from there.
// The rows passed over must then be the same, also those of iterators that were opened since, so
// the order in which they came is a part of the checkpoint. A state that is kept has a *mark*
// beside it; the book keeps what came behind the oldest mark, as runs of positions that follow
// each other, and forgets the rest.
class OrderBook : public std::enable_shared_from_this<OrderBook> {
 public:
  struct Run {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::int64_t last_step = 0;  // of the book
  };
  explicit OrderBook(AccountPtr account) : account_(std::move(account)) {}

  using Mark = std::shared_ptr<const void>;
  Mark mark();
  // While it lives nothing is forgotten: states and the book are written one after the other.
  Mark keep_all();

  // Whether no more runs can be kept: from then on rows should be handed on in order.
  bool full() const;
  bool empty() const;

  void save(StateWriter& out) const;
  // Before any iterator uses it. States are not trusted.
  Status read(StateReader& in);

 private:
  friend class OrderLog;
  struct Entry {
    std::int64_t begin = 0;  // rows handed on before runs
    std::deque<Run> runs;
    std::deque<Run> due;  // must be handed on next
    bool in_use = false;
    std::int64_t ended_at = 0;  // the book's step then
  };
  class Held;
  Mark hold(std::int64_t step) SW_REQUIRES(mutex_);

  std::int64_t next_number(const std::string& name) const SW_REQUIRES(mutex_);
  Entry& bind(const OrderKey& key) SW_REQUIRES(mutex_);
  void forget(Entry& entry) SW_REQUIRES(mutex_);
  void forget_ended() SW_REQUIRES(mutex_);
  void pay() SW_REQUIRES(mutex_);

  const AccountPtr account_;
  mutable Mutex mutex_;
  std::map<OrderKey, Entry> entries_ SW_GUARDED_BY(mutex_);
  std::deque<OrderKey> ended_ SW_GUARDED_BY(mutex_);  // not in use, the first to go first
  std::map<std::int64_t, int> marks_ SW_GUARDED_BY(mutex_);
  std::vector<Reservation> charged_ SW_GUARDED_BY(mutex_);
  std::size_t runs_ SW_GUARDED_BY(mutex_) = 0;
  std::int64_t steps_ SW_GUARDED_BY(mutex_) = 0;
  bool refused_ SW_GUARDED_BY(mutex_) = false;
};

// The marks beside a state that is kept: of when it was taken, and of the kept states in it.
class OrderMarks {
 public:
  // While it lives, states on this thread that contain a kept one leave its marks in `into`.
  class Taking {
   public:
    Taking(OrderBook& book, OrderMarks& into);
    ~Taking();
    Taking(const Taking&) = delete;
    Taking& operator=(const Taking&) = delete;

   private:
    OrderMarks* const before_;
  };
  // The state that these belong to becomes a part of the one that is being taken.
  void pass_on() const;

 private:
  std::vector<OrderBook::Mark> marks_;
};

// What one iterator writes into its run's book. Used by one thread at a time.
class OrderLog {
 public:
  OrderLog(std::shared_ptr<OrderBook> book, std::string name)
      : book_(std::move(book)), key_(std::move(name), -1) {}
  ~OrderLog();
  OrderLog(const OrderLog&) = delete;
  OrderLog& operator=(const OrderLog&) = delete;

  // What must be handed on next, after a restore; nothing: anything may.
  std::optional<OrderBook::Run> due();
  // The row at `first` and those behind it were handed on; what is due is not left out.
  void add(std::int64_t first, std::int64_t rows);
  bool full() const { return book_->full(); }

  // In the state of the iterator. Restored, it goes on behind what it had handed on.
  void save(StateWriter& out) const;
  Status restore(StateReader& in);
  // What is due cannot be handed on.
  void give_up();

 private:
  OrderBook::Entry& entry() SW_REQUIRES(book_->mutex_);
  OrderBook::Entry* entry_ = nullptr;  // the book's, from the first use on

  const std::shared_ptr<OrderBook> book_;
  OrderKey key_;  // its number is -1 until it is used
  std::int64_t handed_ = 0;
};

}  // namespace spillway
