#pragma once

#include <cstring>

#include "spillway/tensor/tensor.h"

namespace spillway {

// Strings written one after the other into memory that is charged before it is written: for those
// who learn a string's length just before its bytes. Two buffers, for up to `rows` strings and
// about `bytes` of them; a single string may be of any length. One thread.
class StringRows {
 public:
  StringRows(AccountPtr account, std::int64_t rows, std::size_t bytes)
      : account_(std::move(account)), most_(rows), wanted_(bytes) {}

  std::int64_t count() const { return count_; }
  bool full() const { return count_ == most_; }

  // Where `n` bytes may be written that may become the next string; null when what is there leaves
  // no room: then it has to be taken first. The place is good until the next call.
  Result<std::byte*> room(std::size_t n);
  // The first `n` bytes of the place are the next string.
  void add(std::size_t n) {
    place_ += n;
    left_ -= n;
    ends_[count_++] = place_ - begin_;
  }
  // Both at once. False: no room.
  Result<bool> add(std::string_view string);
  // The same in a few instructions, for the many short strings of a text: `readable` bytes may be
  // read from `string` on. False: add() has to be asked, for want of either kind of room.
  bool add_short(const char* string, std::size_t n, std::size_t readable) {
    if (n + kPiece > readable || left_ < n + kPiece || full()) return false;
    char* const to = reinterpret_cast<char*>(place_);
    for (std::size_t i = 0; i < n; i += kPiece) std::memcpy(to + i, string + i, kPiece);
    add(n);
    return true;
  }

  // The same where no memory has to be asked for. False: add() knows why.
  bool add_fitting(std::string_view string) {
    if (full() || left_ < string.size() || bytes_ == nullptr) return false;
    if (!string.empty()) std::memcpy(place_, string.data(), string.size());
    add(string.size());
    return true;
  }
  // Forgets all but the first `count` strings.
  void truncate(std::int64_t count);
  // Bytes of all strings.
  std::size_t bytes() const { return static_cast<std::size_t>(place_ - begin_); }

  // [count()]; at least one string.
  Tensor take();

 private:
  static constexpr std::size_t kPiece = 32;
  Status allocate(std::size_t bytes);

  const AccountPtr account_;
  const std::int64_t most_;
  const std::size_t wanted_;
  BufferPtr offsets_;
  BufferPtr bytes_;
  std::int64_t count_ = 0;
  std::int64_t* ends_ = nullptr;  // in the offsets
  std::byte* begin_ = nullptr;    // of the bytes
  std::byte* place_ = nullptr;    // behind the last string
  std::size_t left_ = 0;          // bytes from there on
};

// Strings that lie apart in `bytes`, shared where they are: parts of records that are kept anyway.
// Their offsets are kApart, then begin and end of each. Whoever looks at offsets has to ask
// strings_apart(); everybody else sees no difference. `items` lie in `bytes`.
inline constexpr std::int64_t kApart = -1;
Result<Tensor> strings_within(const AccountPtr& account, Shape shape, BufferPtr bytes,
                              std::span<const std::string_view> items, Buffer::Ask ask);
bool strings_apart(const Tensor& strings);
// Begin and end of its strings in all, gaps included.
std::pair<std::int64_t, std::int64_t> string_extent(const Tensor& strings);

}  // namespace spillway
