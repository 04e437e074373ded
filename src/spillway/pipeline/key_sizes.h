#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spillway/memory/budget.h"

namespace spillway {

// A positive number for each of many keys, for as long as a pass lasts. In one piece of memory,
// charged: in a map, each of its nodes would hold the page of what lay around it and has gone. One
// thread.
class KeySizes {
 public:
  explicit KeySizes(AccountPtr account) : account_(std::move(account)) {}

  std::size_t count() const { return count_; }
  // 0: not known.
  std::int64_t find(std::int64_t key) const {
    return slots_.empty() ? 0 : slots_[place_of(key)].second;
  }
  // `size` is positive.
  void set(std::int64_t key, std::int64_t size) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    auto& slot = slots_[place_of(key)];
    if (slot.second == 0) ++count_;
    slot = {key, size};
  }
  // In the order of the keys.
  std::vector<std::pair<std::int64_t, std::int64_t>> all() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    out.reserve(count_);
    for (const auto& slot : slots_) {
      if (slot.second != 0) out.push_back(slot);
    }
    std::ranges::sort(out);
    return out;
  }

 private:
  using Slot = std::pair<std::int64_t, std::int64_t>;  // key and size; size 0: free

  std::size_t place_of(std::int64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    // Keys are often consecutive: the upper bits of a product mix them all.
    auto hash = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      if (slots_[at].second == 0 || slots_[at].first == key) return at;
    }
  }
  void grow() {
    const std::size_t size = std::max<std::size_t>(16, 2 * slots_.size());
    Reservation paid = account_->owe(size * sizeof(Slot));
    paid.touch();
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(size));
    for (const Slot& slot : before) {
      if (slot.second != 0) slots_[place_of(slot.first)] = slot;
    }
    paid_ = std::move(paid);
  }

  const AccountPtr account_;
  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::size_t count_ = 0;
  Reservation paid_;
};

}  // namespace spillway
