#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/memory/buffer.h"
#include "spillway/pipeline/row_pages.h"

namespace spillway {

// Items of one small size by position, first in first out: what an operator has to know of each row
// that it keeps (where it lies, which it was). Every byte is charged: in pages that go to disk
// under pressure like the rows themselves, after them, so a list of any length fits any limit.
// About 0.1 % of its size, what is known of each page, always stays in memory.
//
// A few items cost no more than themselves. Thread-safe; the budget may ask for memory back on any
// thread at any time.
class ListPages {
 public:
  static constexpr std::size_t kPage = 64 * 1024;

  ListPages(AccountPtr account, Budget& budget, LazySpill::Counter spilled, std::size_t item);
  ~ListPages();
  ListPages(const ListPages&) = delete;
  ListPages& operator=(const ListPages&) = delete;

  // Positions of the first item and behind the last one.
  std::int64_t begin() const;
  std::int64_t end() const;

  // An error is one of memory and disk, and changes nothing.
  Status append(const std::byte* item);
  Status read(std::int64_t at, std::byte* item);
  Status write(std::int64_t at, const std::byte* item);
  // Takes back the item that was appended last, at once.
  void pop_back();
  // Forgets the items before `at`.
  void forget_before(std::int64_t at);
  void clear() { forget_before(end()); }
  // Items from `at` on, in order, some at a time, until it says no. Reads what is on disk past the
  // pages in memory.
  Status each(std::int64_t at,
              const std::function<bool(const std::byte* items, std::int64_t count)>& f);

 private:
  struct Page {
    std::unique_ptr<Buffer> memory;
    SpillSlot place;
    bool changed = true;  // since it was written
  };
  Status require(std::int64_t at);
  std::byte* present(std::int64_t at) SW_REQUIRES(mutex_);
  Status add_page();
  Status grow_first() SW_REQUIRES(mutex_);
  // Memory for a page: null, and nothing changed, where only others could give it.
  std::unique_ptr<Buffer> free_memory() SW_REQUIRES(mutex_);
  Result<std::unique_ptr<Buffer>> any_memory() SW_REQUIRES(mutex_);
  Result<std::unique_ptr<Buffer>> evict() SW_REQUIRES(mutex_);
  Status load(Page& page, std::unique_ptr<Buffer> memory) SW_REQUIRES(mutex_);
  Status keep_on_disk(Page& page) SW_REQUIRES(mutex_);
  void pay_for_pages() SW_REQUIRES(mutex_);
  std::size_t spill(std::size_t wanted);

  const AccountPtr account_;
  Budget& budget_;
  const std::size_t item_;
  const std::int64_t items_a_page_;
  mutable Mutex mutex_;
  LazySpill disk_ SW_GUARDED_BY(mutex_);
  std::vector<Page> pages_ SW_GUARDED_BY(mutex_);
  Reservation paid_ SW_GUARDED_BY(mutex_);             // for pages_
  std::int64_t first_page_ SW_GUARDED_BY(mutex_) = 0;  // number of pages_[0]
  std::int64_t begin_ SW_GUARDED_BY(mutex_) = 0;
  std::int64_t end_ SW_GUARDED_BY(mutex_) = 0;
  std::size_t resident_ SW_GUARDED_BY(mutex_) = 0;  // pages
  std::size_t hand_ SW_GUARDED_BY(mutex_) = 0;      // where evict() looks next
  bool listening_ = false;
  Budget::Registration pressure_;  // last: no call comes in once it is gone
};

template <class T>
class SpilledList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SpilledList(AccountPtr account, Budget& budget, LazySpill::Counter spilled)
      : pages_(std::move(account), budget, std::move(spilled), sizeof(T)) {}

  std::int64_t begin() const { return pages_.begin(); }
  std::int64_t end() const { return pages_.end(); }
  std::int64_t size() const { return pages_.end() - pages_.begin(); }
  Status append(const T& item) { return pages_.append(reinterpret_cast<const std::byte*>(&item)); }
  Result<T> read(std::int64_t at) {
    T out;
    SW_RETURN_IF_ERROR(pages_.read(at, reinterpret_cast<std::byte*>(&out)));
    return out;
  }
  Status write(std::int64_t at, const T& item) {
    return pages_.write(at, reinterpret_cast<const std::byte*>(&item));
  }
  void pop_back() { pages_.pop_back(); }
  void forget_before(std::int64_t at) { pages_.forget_before(at); }
  void clear() { pages_.clear(); }
  // f(position, item) of each from `at` on; false ends it.
  template <class F>
  Status each(std::int64_t at, F&& f) {
    return pages_.each(at, [&](const std::byte* items, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i, ++at) {
        if (!f(at, reinterpret_cast<const T*>(items)[i])) return false;
      }
      return true;
    });
  }

 private:
  ListPages pages_;
};

// The same for lists of which there may be very many: a short one is a vector, charged.
template <class T>
class LongList {
 public:
  LongList(AccountPtr account, Budget& budget, LazySpill::Counter spilled)
      : account_(std::move(account)), budget_(budget), spilled_(std::move(spilled)) {}

  std::int64_t size() const { return std::ssize(first_) + (rest_ == nullptr ? 0 : rest_->size()); }
  Status append(const T& item) {
    if (first_.size() < kFirst) {
      if (first_.size() == first_.capacity()) grow();
      first_.push_back(item);
      return {};
    }
    if (rest_ == nullptr) rest_ = std::make_unique<SpilledList<T>>(account_, budget_, spilled_);
    return rest_->append(item);
  }
  // Takes back the item that was appended last, at once.
  void pop_back() {
    if (rest_ != nullptr && rest_->size() > 0) {
      rest_->pop_back();
    } else {
      first_.pop_back();
    }
  }
  Result<T> read(std::int64_t at) const {
    if (at < std::ssize(first_)) return first_[static_cast<std::size_t>(at)];
    return rest_->read(at - std::ssize(first_));
  }
  // f(item) of each.
  template <class F>
  Status each(F&& f) const {
    for (const T& item : first_) f(item);
    if (rest_ == nullptr) return {};
    return rest_->each(0, [&](std::int64_t, const T& item) {
      f(item);
      return true;
    });
  }

 private:
  static constexpr std::size_t kFirst = 4096;
  // Of what allocators and the lists themselves take beside the items.
  static constexpr std::size_t kBeside = 448;
  void grow() {
    first_.reserve(std::max<std::size_t>(4, first_.capacity() * 2));
    const std::size_t bytes = kBeside + first_.capacity() * sizeof(T);
    Reservation more = account_->owe(bytes - paid_.bytes());
    more.touch();
    if (!paid_.absorb(more)) paid_ = std::move(more);
  }

  AccountPtr account_;
  Budget& budget_;
  LazySpill::Counter spilled_;
  std::vector<T> first_;
  Reservation paid_;  // for first_
  std::unique_ptr<SpilledList<T>> rest_;
};

}  // namespace spillway
