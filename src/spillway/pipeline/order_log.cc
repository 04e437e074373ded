#include "spillway/pipeline/order_log.h"

#include <algorithm>

namespace spillway {
namespace {

constexpr std::size_t kMostRuns = 1 << 16;
constexpr std::size_t kRunsCharged = 1024;  // at a time
constexpr std::int64_t kFar = INT64_MAX / 4;

thread_local OrderMarks* taking = nullptr;

Status bad_order() { return invalid_argument("checkpoint: the order of rows cannot be read"); }

void put_runs(const std::deque<OrderBook::Run>& runs, std::int64_t& expected, StateWriter& out) {
  for (const OrderBook::Run& run : runs) {
    out.put(run.first - expected);
    out.put(run.rows);
    expected = run.first + run.rows;
  }
}

}  // namespace

class OrderBook::Held {
 public:
  Held(std::shared_ptr<OrderBook> book, std::int64_t step) : book_(std::move(book)), step_(step) {}
  ~Held() {
    const MutexLock lock(book_->mutex_);
    const auto found = book_->marks_.find(step_);
    if (--found->second == 0) book_->marks_.erase(found);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  const std::shared_ptr<OrderBook> book_;
  const std::int64_t step_;
};

OrderBook::Mark OrderBook::mark() {
  const MutexLock lock(mutex_);
  return hold(steps_);
}

OrderBook::Mark OrderBook::keep_all() {
  const MutexLock lock(mutex_);
  return hold(-1);
}

OrderBook::Mark OrderBook::hold(std::int64_t step) {
  ++marks_[step];
  return std::make_shared<const Held>(shared_from_this(), step);
}

OrderMarks::Taking::Taking(OrderBook& book, OrderMarks& into) : before_(taking) {
  into.marks_ = {book.mark()};
  taking = &into;
}

OrderMarks::Taking::~Taking() { taking = before_; }

void OrderMarks::pass_on() const {
  if (taking == nullptr) return;
  taking->marks_.insert(taking->marks_.end(), marks_.begin(), marks_.end());
}

bool OrderBook::full() const {
  const MutexLock lock(mutex_);
  return refused_ || runs_ >= kMostRuns;
}

bool OrderBook::empty() const {
  const MutexLock lock(mutex_);
  return entries_.empty();
}

std::int64_t OrderBook::next_number(const std::string& name) const {
  std::int64_t unused = 0;
  for (auto at = entries_.lower_bound({name, 0}); at != entries_.end(); ++at) {
    const auto& [key, entry] = *at;
    if (key.first != name) break;
    const bool is_fresh = !entry.in_use && entry.begin == 0 && entry.runs.empty();
    if (is_fresh && !entry.due.empty()) return key.second;
    if (key.second == unused) ++unused;
  }
  return unused;
}

OrderBook::Entry& OrderBook::bind(const OrderKey& key) {
  Entry& entry = entries_[key];
  entry.in_use = true;
  return entry;
}

void OrderBook::forget(Entry& entry) {
  const std::int64_t needed = marks_.empty() ? steps_ : marks_.begin()->first;
  while (!entry.runs.empty() && entry.runs.front().last_step <= needed) {
    entry.begin += entry.runs.front().rows;
    entry.runs.pop_front();
    --runs_;
  }
}

void OrderBook::forget_ended() {
  while (!ended_.empty()) {
    const auto found = entries_.find(ended_.front());
    if (found != entries_.end() && !found->second.in_use) {
      forget(found->second);
      // A state that is kept may be of an iterator that has ended since.
      const bool is_named = !marks_.empty() && marks_.begin()->first <= found->second.ended_at;
      if (is_named || !found->second.runs.empty()) return;
      entries_.erase(found);
    }
    ended_.pop_front();
  }
}

void OrderBook::pay() {
  while (charged_.size() * kRunsCharged >= runs_ + 2 * kRunsCharged) charged_.pop_back();
  refused_ = false;
  if (runs_ <= charged_.size() * kRunsCharged) return;
  auto more = account_->try_reserve(kRunsCharged * sizeof(Run));
  refused_ = !more;
  if (more) charged_.push_back(std::move(*more));
}

void OrderBook::save(StateWriter& out) const {
  const MutexLock lock(mutex_);
  out.put(static_cast<std::int64_t>(entries_.size()));
  for (const auto& [key, entry] : entries_) {
    out.put(key.first);
    out.put(key.second);
    out.put(entry.begin);
    out.put(static_cast<std::int64_t>(entry.runs.size() + entry.due.size()));
    std::int64_t expected = 0;
    put_runs(entry.runs, expected, out);
    put_runs(entry.due, expected, out);
  }
}

Status OrderBook::read(StateReader& in) {
  const MutexLock lock(mutex_);
  std::int64_t entries = 0;
  SW_RETURN_IF_ERROR(in.get_count(entries));
  for (std::int64_t i = 0; i < entries; ++i) {
    OrderKey key;
    Entry entry;
    std::int64_t runs = 0;
    SW_RETURN_IF_ERROR(in.get(key.first));
    SW_RETURN_IF_ERROR(in.get_count(key.second, kFar));
    SW_RETURN_IF_ERROR(in.get_count(entry.begin, kFar));
    SW_RETURN_IF_ERROR(in.get_count(runs));
    std::int64_t at = 0;
    for (std::int64_t j = 0; j < runs; ++j) {
      std::int64_t step = 0;
      Run run{};
      SW_RETURN_IF_ERROR(in.get(step));
      SW_RETURN_IF_ERROR(in.get_count(run.rows, kFar));
      if (step > kFar || step < -kFar || run.rows == 0) return bad_order();
      run.first = at + step;
      at = run.first + run.rows;
      if (run.first < 0 || at > kFar) return bad_order();
      entry.due.push_back(run);
    }
    entries_[key] = std::move(entry);
  }
  return {};
}

OrderLog::~OrderLog() {
  const MutexLock lock(book_->mutex_);
  if (key_.second < 0) return;
  OrderBook::Entry& mine = book_->entries_[key_];
  mine.in_use = false;
  mine.ended_at = book_->steps_;
  book_->ended_.push_back(key_);
  book_->forget_ended();
}

// Iterators of one name are numbered in the order in which they are opened. What was restored of
// iterators that are opened again comes first.
OrderBook::Entry& OrderLog::entry() {
  if (entry_ != nullptr) return *entry_;
  if (key_.second < 0) key_.second = book_->next_number(key_.first);
  entry_ = &book_->bind(key_);
  return *entry_;
}

std::optional<OrderBook::Run> OrderLog::due() {
  const MutexLock lock(book_->mutex_);
  const OrderBook::Entry& mine = entry();
  if (mine.due.empty()) return std::nullopt;
  return mine.due.front();
}

void OrderLog::add(std::int64_t first, std::int64_t rows) {
  const MutexLock lock(book_->mutex_);
  OrderBook::Entry& mine = entry();
  handed_ += rows;
  ++book_->steps_;
  if (!mine.due.empty()) {
    OrderBook::Run& due = mine.due.front();
    due.first += rows;
    due.rows -= rows;
    if (due.rows <= 0) mine.due.pop_front();
  }
  const bool goes_on =
      !mine.runs.empty() && mine.runs.back().first + mine.runs.back().rows == first;
  if (goes_on) {
    mine.runs.back().rows += rows;
    mine.runs.back().last_step = book_->steps_;
  } else {
    mine.runs.push_back({first, rows, book_->steps_});
    ++book_->runs_;
  }
  book_->forget(mine);
  book_->forget_ended();
  book_->pay();
}

void OrderLog::save(StateWriter& out) const {
  out.put(key_.first);
  out.put(key_.second);
  out.put(handed_);
}

Status OrderLog::restore(StateReader& in) {
  OrderKey key;
  std::int64_t handed = 0;
  SW_RETURN_IF_ERROR(in.get(key.first));
  SW_RETURN_IF_ERROR(in.get(key.second));
  SW_RETURN_IF_ERROR(in.get_count(handed, kFar));
  if (key.second < 0) return handed == 0 ? Status() : bad_order();
  if (key.first != key_.first) return bad_order();
  const MutexLock lock(book_->mutex_);
  OrderBook::Entry& mine = book_->bind(key);
  if (mine.due.empty()) mine.begin = handed;
  if (mine.begin > handed) return bad_order();
  for (std::int64_t passed = handed - mine.begin; passed > 0 && !mine.due.empty();) {
    OrderBook::Run& due = mine.due.front();
    const std::int64_t some = std::min(passed, due.rows);
    due.first += some;
    due.rows -= some;
    passed -= some;
    if (due.rows == 0) mine.due.pop_front();
  }
  mine.begin = handed;
  handed_ = handed;
  key_ = std::move(key);
  return {};
}

void OrderLog::give_up() {
  const MutexLock lock(book_->mutex_);
  entry().due.clear();
}

}  // namespace spillway
