#include "spillway/pipeline/spilled_list.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "spillway/memory/slab_pool.h"

namespace spillway {
namespace {

constexpr std::size_t kFirst = 256;     // bytes of a first page; it doubles
constexpr std::size_t kAPage = 96;      // what is known of a page, as it is charged
constexpr std::size_t kPaidAhead = 16;  // pages
// Pages that a list keeps whatever the budget says, so that it always goes on.
constexpr std::size_t kLeastPages = 3;

}  // namespace

ListPages::ListPages(AccountPtr account, Budget& budget, LazySpill::Counter spilled,
                     std::size_t item)
    : account_(std::move(account)),
      budget_(budget),
      item_(item),
      items_a_page_(static_cast<std::int64_t>(kPage / item)),
      disk_(std::move(spilled)) {}

ListPages::~ListPages() {
  pressure_.reset();
  const MutexLock lock(mutex_);
  for (const Page& page : pages_) disk_.release(page.place);
}

std::int64_t ListPages::begin() const {
  const MutexLock lock(mutex_);
  return begin_;
}

std::int64_t ListPages::end() const {
  const MutexLock lock(mutex_);
  return end_;
}

std::byte* ListPages::present(std::int64_t at) {
  const auto page = static_cast<std::size_t>(at / items_a_page_ - first_page_);
  if (page >= pages_.size() || pages_[page].memory == nullptr) return nullptr;
  const std::size_t offset = static_cast<std::size_t>(at % items_a_page_) * item_;
  Buffer& memory = *pages_[page].memory;
  return offset + item_ <= memory.size() ? memory.data() + offset : nullptr;
}

Status ListPages::append(const std::byte* item) {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (std::byte* place = present(end_)) {
        std::memcpy(place, item, item_);
        pages_.back().changed = true;
        ++end_;
        return {};
      }
    }
    SW_RETURN_IF_ERROR(add_page());
  }
}

Status ListPages::read(std::int64_t at, std::byte* item) {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (const std::byte* place = present(at)) {
        std::memcpy(item, place, item_);
        return {};
      }
    }
    SW_RETURN_IF_ERROR(require(at));
  }
}

Status ListPages::write(std::int64_t at, const std::byte* item) {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (std::byte* place = present(at)) {
        std::memcpy(place, item, item_);
        pages_[static_cast<std::size_t>(at / items_a_page_ - first_page_)].changed = true;
        return {};
      }
    }
    SW_RETURN_IF_ERROR(require(at));
  }
}

// Its page stays the last one: it is in memory.
void ListPages::pop_back() {
  const MutexLock lock(mutex_);
  --end_;
}

void ListPages::forget_before(std::int64_t at) {
  const MutexLock lock(mutex_);
  begin_ = std::max(begin_, std::min(at, end_));
  while (!pages_.empty() && begin_ / items_a_page_ > first_page_) {
    resident_ -= pages_.front().memory == nullptr ? 0 : 1;
    disk_.release(pages_.front().place);
    pages_.erase(pages_.begin());
    ++first_page_;
  }
  if (begin_ == end_ && end_ % items_a_page_ == 0) first_page_ = end_ / items_a_page_;
}

// ---- Memory

// The first page of a short list is as small as the list.
Status ListPages::grow_first() {
  Buffer& before = *pages_.back().memory;
  const std::size_t bytes = std::min(kPage, before.size() * 2);
  SW_ASSIGN(Buffer larger, Buffer::allocate(account_, bytes, Buffer::Ask::kOwed));
  std::memcpy(larger.data(), before.data(), before.size());
  larger.touch();
  before = std::move(larger);
  return {};
}

std::unique_ptr<Buffer> ListPages::free_memory() {
  auto got = Buffer::allocate(account_, kPage, Buffer::Ask::kOptional);
  return got.ok() ? std::make_unique<Buffer>(std::move(got).value()) : nullptr;
}

// A page of our own gives its memory; the least that a list needs is owed.
Result<std::unique_ptr<Buffer>> ListPages::any_memory() {
  if (resident_ >= kLeastPages) {
    SW_ASSIGN(std::unique_ptr<Buffer> memory, evict());
    if (memory != nullptr) return memory;
  }
  SW_ASSIGN(Buffer owed, Buffer::allocate(account_, kPage, Buffer::Ask::kOwed));
  return std::make_unique<Buffer>(std::move(owed));
}

Status ListPages::keep_on_disk(Page& page) {
  if (!page.changed) return {};
  disk_.release(std::exchange(page.place, SpillSlot()));
  SW_ASSIGN(page.place, disk_.write({page.memory->data(), page.memory->size()}));
  page.changed = false;
  return {};
}

// Of a page that is in memory; not the last one, which is being written. Null: there is none.
Result<std::unique_ptr<Buffer>> ListPages::evict() {
  for (std::size_t looked = 0; looked + 1 < pages_.size(); ++looked) {
    hand_ = hand_ + 2 < pages_.size() ? hand_ + 1 : 0;
    Page& page = pages_[hand_];
    if (page.memory == nullptr) continue;
    SW_RETURN_IF_ERROR(keep_on_disk(page));
    --resident_;
    return std::move(page.memory);
  }
  return std::unique_ptr<Buffer>();
}

Status ListPages::load(Page& page, std::unique_ptr<Buffer> memory) {
  SW_RETURN_IF_ERROR(disk_.file()->read(page.place, memory->data()));
  memory->touch();
  page.memory = std::move(memory);
  page.changed = false;
  ++resident_;
  return {};
}

// Brings the page of a position into memory. Rows go to disk before what is known of them.
Status ListPages::require(std::int64_t at) {
  for (int attempt = 0;; ++attempt) {
    {
      const MutexLock lock(mutex_);
      Page& page = pages_[static_cast<std::size_t>(at / items_a_page_ - first_page_)];
      if (page.memory != nullptr) return {};
      std::unique_ptr<Buffer> memory = free_memory();
      if (memory == nullptr && attempt > 0) {
        SW_ASSIGN(memory, any_memory());
      }
      if (memory != nullptr) return load(page, std::move(memory));
    }
    budget_.reclaim(kPage);  // not under our lock
  }
}

Status ListPages::add_page() {
  for (int attempt = 0;; ++attempt) {
    {
      const MutexLock lock(mutex_);
      const bool first = pages_.empty();
      if (!first && end_ / items_a_page_ - first_page_ < std::ssize(pages_)) {
        // The last page: it is short, or was given up to nobody.
        return pages_.back().memory != nullptr ? grow_first()
                                               : internal_bug("list: its last page is on disk");
      }
      std::unique_ptr<Buffer> memory;
      if (first && end_ % items_a_page_ == 0) {
        SW_ASSIGN(Buffer small,
                  Buffer::allocate(account_, kFirst / item_ * item_, Buffer::Ask::kOwed));
        memory = std::make_unique<Buffer>(std::move(small));
      } else {
        memory = free_memory();
        if (memory == nullptr && attempt > 0) {
          SW_ASSIGN(memory, any_memory());
        }
      }
      if (memory != nullptr) {
        memory->touch();
        if (first) first_page_ = end_ / items_a_page_;
        pages_.push_back({std::move(memory), {}, true});
        ++resident_;
        pay_for_pages();
        break;
      }
    }
    budget_.reclaim(kPage);
  }
  if (!listening_ && end() >= items_a_page_) {
    listening_ = true;
    pressure_ = budget_.on_pressure(ReclaimOrder::kSpill,
                                    [this](std::size_t wanted) { return spill(wanted); });
  }
  return {};
}

void ListPages::pay_for_pages() {
  const std::size_t bytes = pages_.size() * kAPage;
  if (pages_.size() == 1 || bytes <= paid_.bytes()) return;
  Reservation more = account_->owe(bytes + kPaidAhead * kAPage - paid_.bytes());
  more.touch();
  if (!paid_.absorb(more)) paid_ = std::move(more);
}

std::size_t ListPages::spill(std::size_t wanted) {
  if (!mutex_.try_lock()) return 0;
  std::size_t freed = 0;
  while (freed < wanted && resident_ > kLeastPages) {
    auto memory = evict();
    if (!memory.ok() || memory.value() == nullptr) break;
    freed += memory.value()->charged();
  }
  mutex_.unlock();
  return freed;
}

Status ListPages::each(std::int64_t at,
                       const std::function<bool(const std::byte* items, std::int64_t count)>& f) {
  std::optional<Buffer> copy;
  for (;;) {
    std::int64_t count = 0;
    {
      const MutexLock lock(mutex_);
      at = std::max(at, begin_);
      if (at >= end_) return {};
      Page& page = pages_[static_cast<std::size_t>(at / items_a_page_ - first_page_)];
      const std::int64_t into = at % items_a_page_;
      count = std::min(items_a_page_ - into, end_ - at);
      if (!copy) {
        SW_ASSIGN(copy, Buffer::allocate(account_, kPage, Buffer::Ask::kOwed));
        copy->touch();
      }
      if (page.memory == nullptr) {
        SW_RETURN_IF_ERROR(disk_.file()->read(page.place, copy->data()));
        if (into > 0) {
          std::memmove(copy->data(), copy->data() + static_cast<std::size_t>(into) * item_,
                       static_cast<std::size_t>(count) * item_);
        }
      } else {
        std::memcpy(copy->data(), page.memory->data() + static_cast<std::size_t>(into) * item_,
                    static_cast<std::size_t>(count) * item_);
      }
    }
    if (!f(copy->data(), count)) return {};
    at += count;
  }
}

}  // namespace spillway
