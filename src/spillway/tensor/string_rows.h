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
  void add(std::size_t n);
  // Both at once. False: no room.
  Result<bool> add(std::string_view string);

  // The same where no memory has to be asked for. False: add() knows why.
  bool add_fitting(std::string_view string) {
    if (bytes_ == nullptr || full() || bytes_->size() - used_ < string.size()) return false;
    if (!string.empty()) std::memcpy(bytes_->data() + used_, string.data(), string.size());
    used_ += string.size();
    reinterpret_cast<std::int64_t*>(offsets_->data())[++count_] = static_cast<std::int64_t>(used_);
    return true;
  }
  // Forgets all but the first `count` strings.
  void truncate(std::int64_t count);
  // Bytes of all strings.
  std::size_t bytes() const { return used_; }

  // [count()]; at least one string.
  Tensor take();

 private:
  Status allocate(std::size_t bytes);

  const AccountPtr account_;
  const std::int64_t most_;
  const std::size_t wanted_;
  BufferPtr offsets_;
  BufferPtr bytes_;
  std::int64_t count_ = 0;
  std::size_t used_ = 0;
};

}  // namespace spillway
