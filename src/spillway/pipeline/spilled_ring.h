#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "spillway/base/random.h"
#include "spillway/pipeline/spilled_list.h"

namespace spillway {

// TensorFlow's shuffle buffer, as Ring, for buffers of any size: its items go to disk when memory
// is needed. A call that fails for want of memory or disk changes nothing, and draws no number.
template <class T>
class SpilledRing {
 public:
  SpilledRing(std::int64_t most, AccountPtr account, Budget& budget, LazySpill::Counter spilled)
      : items_(std::move(account), budget, std::move(spilled)), most_(most) {}

  std::int64_t size() const { return tail_ - head_; }
  std::int64_t most() const { return most_; }
  bool full() const { return size() >= most_; }

  Status push(const T& item) {
    SW_RETURN_IF_ERROR(items_.append(item));
    ++tail_;
    return {};
  }
  // A random one; the oldest takes its place.
  Result<T> pop(PhiloxStream& random) {
    PhiloxStream next = random;
    const std::uint32_t number = next.next();
    const auto size = static_cast<std::uint64_t>(tail_ - head_);
    // A size of 32 bits divides four times faster.
    const std::uint64_t at =
        size <= UINT32_MAX ? number % static_cast<std::uint32_t>(size) : number;
    SW_ASSIGN(T out, items_.read(head_));
    if (at > 0) {
      const std::int64_t place = head_ + static_cast<std::int64_t>(at);
      SW_ASSIGN(const T chosen, items_.read(place));
      SW_RETURN_IF_ERROR(items_.write(place, out));
      out = chosen;
    }
    random = next;
    if (++head_ % kForgetEvery == 0) items_.forget_before(head_);
    return out;
  }

  // The i-th in the order of the ring.
  Result<T> at(std::int64_t i) { return items_.read(head_ + i); }
  Status put(std::int64_t i, const T& item) { return items_.write(head_ + i, item); }
  // f(i, item) of each, in order; false ends it.
  template <class F>
  Status each(F&& f) {
    return items_.each(head_, [&](std::int64_t at, const T& item) { return f(at - head_, item); });
  }
  // No more places than it has items: for a buffer that found no room.
  void hold_no_more() { most_ = std::max<std::int64_t>(size(), 1); }

 private:
  static constexpr std::int64_t kForgetEvery = 1024;
  SpilledList<T> items_;
  std::int64_t most_;
  std::int64_t head_ = 0;
  std::int64_t tail_ = 0;
};

}  // namespace spillway
