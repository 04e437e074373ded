#include "spillway/memory/slab_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "spillway/memory/guardian.h"

namespace spillway {
namespace {

// Reserved bytes are not refused because the soft limit on data lags behind.
template <class Try>
bool with_limit_followed(const Try& try_it) {
  return try_it() || (Guardian::process().follow_limit_now() && try_it());
}

}  // namespace

SlabPool::SlabPool(Budget& budget)
    : account_(budget.open_account("idle slabs")),
      pressure_(budget.on_pressure(ReclaimOrder::kIdleSlabs,
                                   [this](std::size_t wanted) { return drop_idle(wanted); })) {}

SlabPool::~SlabPool() {
  pressure_.reset();
  drop_idle(SIZE_MAX);
}

SlabPool& SlabPool::process() {
  static SlabPool& pool = *new SlabPool(Budget::process());
  return pool;
}

std::size_t SlabPool::capacity_for(std::size_t bytes) {
  if (bytes <= kLeast) return kLeast;
  const int top = static_cast<int>(std::bit_width(bytes - 1)) - 1;
  // Steps of an eighth of the power of two below, never less than a page.
  const std::size_t step = std::max<std::size_t>(std::size_t{1} << (top - 3), 4096);
  return (bytes + step - 1) / step * step;
}

SlabPool::Slab SlabPool::take_idle(std::size_t capacity, const AccountPtr& account) {
  const MutexLock lock(mutex_);
  // Newest first: its pages are the warmest.
  for (auto it = idle_.rbegin(); it != idle_.rend(); ++it) {
    if (it->capacity != capacity) continue;
    if (!it->reservation.transfer(account)) return {};
    Slab slab{it->data, std::move(it->reservation)};
    idle_bytes_ -= capacity;
    idle_.erase(std::next(it).base());
    return slab;
  }
  return {};
}

std::byte* SlabPool::map(std::size_t capacity) {
  void* mapped = MAP_FAILED;
  with_limit_followed([&] {
    mapped = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mapped != MAP_FAILED;
  });
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

std::byte* SlabPool::map_closed(std::size_t capacity) {
  void* mapped =
      mmap(nullptr, capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

bool SlabPool::open(std::byte* data, std::size_t begin, std::size_t end) {
  return begin >= end || with_limit_followed([&] {
           return mprotect(data + begin, end - begin, PROT_READ | PROT_WRITE) == 0;
         });
}

void SlabPool::close(std::byte* data, std::size_t begin, std::size_t capacity) {
  if (begin >= capacity) return;
  // New pages in their place: the old ones are gone at once, also for a limit on data.
  const void* closed = mmap(data + begin, capacity - begin, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (closed == MAP_FAILED) madvise(data + begin, capacity - begin, MADV_DONTNEED);
}

void SlabPool::give_back(std::byte* data, std::size_t capacity, Reservation reservation) {
  // Only the pool's own bytes may pay for idle memory; a guarantee must come back at once, and one
  // that misses bytes gets these.
  const bool wanted = account_->budget().missing() > 0;
  if (wanted || reservation.bytes() != capacity || !reservation.transfer(account_)) {
    munmap(data, capacity);
    return;
  }
  const MutexLock lock(mutex_);
  idle_.push_back({data, capacity, std::move(reservation)});
  idle_bytes_ += capacity;
}

std::size_t SlabPool::drop_idle(std::size_t wanted) {
  std::vector<Idle> dropped;
  std::size_t bytes = 0;
  {
    const MutexLock lock(mutex_);
    while (!idle_.empty() && bytes < wanted) {
      bytes += idle_.front().capacity;
      dropped.push_back(std::move(idle_.front()));
      idle_.pop_front();
    }
    idle_bytes_ -= bytes;
  }
  for (const Idle& slab : dropped) munmap(slab.data, slab.capacity);
  return bytes;
}

std::size_t SlabPool::idle_bytes() const {
  const MutexLock lock(mutex_);
  return idle_bytes_;
}

std::size_t within_reach(Budget& budget) {
  const std::size_t idle =
      &budget == &Budget::process() ? SlabPool::process().idle_bytes() : std::size_t{0};
  return budget.free_pool() + idle;
}

std::size_t within_reach_ahead(Budget& budget) {
  const std::size_t all = within_reach(budget);
  const std::size_t missing = budget.missing();
  return all > missing ? all - missing : 0;
}

}  // namespace spillway
