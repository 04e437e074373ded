#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "spillway/base/mutex.h"
#include "spillway/memory/budget.h"

namespace spillway {

// Large buffers come from here instead of malloc: freed slabs are kept for the next buffer of
// their class and stay charged to the budget as idle, so that the ledger tells the truth; they are
// the first to go under pressure. Eight classes a doubling; slabs are mapped whole and unmapped
// whole, so memory really returns (glibc kept 626 MB resident after such a load; measured).
class SlabPool {
 public:
  static constexpr std::size_t kLeast = 64 * 1024;

  explicit SlabPool(Budget& budget);
  ~SlabPool();
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;

  // The pool of the process's budget. Never destroyed.
  static SlabPool& process();

  // Bytes a slab for `bytes` really has: what to reserve.
  static std::size_t capacity_for(std::size_t bytes);

  struct Slab {
    std::byte* data = nullptr;
    Reservation reservation;
  };
  // An idle slab together with the right to its bytes, now `account`'s; null data when there is
  // none of this capacity or the account belongs to another budget. At the limit this is what
  // keeps buffers going round: nothing has to be given up first.
  Slab take_idle(std::size_t capacity, const AccountPtr& account);
  // Fresh memory, which reads as zero and is not yet in physical memory; null when the kernel
  // refuses. `capacity` as from capacity_for; the caller has reserved it.
  static std::byte* map(std::size_t capacity);
  // Address space of `capacity` bytes that may not be written yet and costs nothing, not even of a
  // limit on data; open() lets the bytes [begin, end) of it be written, false when the kernel
  // refuses. Both in whole pages.
  static std::byte* map_closed(std::size_t capacity);
  static bool open(std::byte* data, std::size_t begin, std::size_t end);
  // Gives the memory of the bytes from `begin` on back to the kernel; they may not be written then.
  static void close(std::byte* data, std::size_t begin, std::size_t capacity);
  // `reservation` pays for the idle slab from now on.
  void give_back(std::byte* data, std::size_t capacity, Reservation reservation);

  // Unmaps idle slabs, least recently used first; returns the bytes given up.
  std::size_t drop_idle(std::size_t wanted);
  std::size_t idle_bytes() const;

 private:
  struct Idle {
    std::byte* data;
    std::size_t capacity;
    Reservation reservation;
  };
  const AccountPtr account_;
  mutable Mutex mutex_;
  std::deque<Idle> idle_ SW_GUARDED_BY(mutex_);  // oldest first
  std::size_t idle_bytes_ SW_GUARDED_BY(mutex_) = 0;
  Budget::Registration pressure_;
};

// What could be had without anybody giving up anything of use: the free pool, and idle slabs.
std::size_t within_reach(Budget& budget);
// The same without what guarantees miss: for look-ahead.
std::size_t within_reach_ahead(Budget& budget);

}  // namespace spillway
