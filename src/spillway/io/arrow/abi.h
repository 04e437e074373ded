#pragma once

#include <cstdint>

namespace spillway::arrow {

// The three structures of the Arrow C data and C stream interfaces, as their specification lays
// them out. Whoever fills one sets `release`; null says that it was released.
struct Schema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  Schema** children;
  Schema* dictionary;
  void (*release)(Schema*);
  void* private_data;
};

struct Array {
  std::int64_t length;
  std::int64_t null_count;  // -1: not counted
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* private_data;
};

struct Stream {
  int (*get_schema)(Stream*, Schema* out);
  int (*get_next)(Stream*, Array* out);  // a released array: the end
  const char* (*get_last_error)(Stream*);
  void (*release)(Stream*);
  void* private_data;
};

// Owns one of them.
template <class T>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : value_(other.value_) { other.value_.release = nullptr; }
  Owned& operator=(Owned&& other) noexcept {
    if (this == &other) return *this;
    release();
    value_ = other.value_;
    other.value_.release = nullptr;
    return *this;
  }
  ~Owned() { release(); }

  bool has_value() const { return value_.release != nullptr; }
  T* get() { return &value_; }
  const T* get() const { return &value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  // Takes over what somebody else filled, and leaves it released.
  void take(T& from) {
    release();
    value_ = from;
    from.release = nullptr;
  }

 private:
  void release() {
    if (value_.release != nullptr) value_.release(&value_);
    value_.release = nullptr;
  }
  T value_{};
};

}  // namespace spillway::arrow
