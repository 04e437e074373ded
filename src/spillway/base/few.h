#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace spillway {

// Up to as many items as were announced, `kInline` of them without the heap: for what is gathered
// for a single call.
template <class T, std::size_t kInline>
class Few {
 public:
  explicit Few(std::size_t most)
      : most_(most), items_(most > kInline ? std::allocator<T>().allocate(most) : inline_items()) {}
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;
  ~Few() {
    std::destroy_n(items_, size_);
    if (most_ > kInline) std::allocator<T>().deallocate(items_, most_);
  }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    assert(size_ < most_);
    return *std::construct_at(items_ + size_++, std::forward<Args>(args)...);
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return items_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  // NOLINTNEXTLINE(google-explicit-constructor): it stands in for a vector
  operator std::span<const T>() const { return {items_, size_}; }

 private:
  T* inline_items() { return reinterpret_cast<T*>(room_); }

  const std::size_t most_;
  std::size_t size_ = 0;
  T* const items_;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
  alignas(T) std::byte room_[kInline * sizeof(T)];
};

}  // namespace spillway
