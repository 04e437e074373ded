#include "spillway/tensor/string_rows.h"

#include <algorithm>
#include <cstring>

namespace spillway {

Status StringRows::allocate(std::size_t bytes) {
  if (offsets_ == nullptr) {
    SW_ASSIGN(offsets_,
              Buffer::share(account_, static_cast<std::size_t>(most_ + 1) * sizeof(std::int64_t),
                            Buffer::Ask::kRequired));
    *reinterpret_cast<std::int64_t*>(offsets_->data()) = 0;
  }
  auto larger = bytes < wanted_ ? Buffer::share(account_, wanted_, Buffer::Ask::kOptional)
                                : Result<BufferPtr>(BufferPtr());
  if (larger.ok() && larger.value() != nullptr) {
    bytes_ = std::move(larger).value();
    return {};
  }
  SW_ASSIGN(bytes_, Buffer::share(account_, bytes, Buffer::Ask::kRequired));
  return {};
}

Result<std::byte*> StringRows::room(std::size_t n) {
  if (full()) return nullptr;
  if (bytes_ == nullptr || bytes_->size() - used_ < n) {
    if (count_ > 0) return nullptr;
    SW_RETURN_IF_ERROR(allocate(n));
  }
  return bytes_->data() + used_;
}

void StringRows::add(std::size_t n) {
  used_ += n;
  reinterpret_cast<std::int64_t*>(offsets_->data())[++count_] = static_cast<std::int64_t>(used_);
}

Result<bool> StringRows::add(std::string_view string) {
  SW_ASSIGN(std::byte* const place, room(string.size()));
  if (place == nullptr) return false;
  if (!string.empty()) std::memcpy(place, string.data(), string.size());
  add(string.size());
  return true;
}

void StringRows::truncate(std::int64_t count) {
  if (count >= count_) return;
  count_ = count;
  used_ = static_cast<std::size_t>(reinterpret_cast<const std::int64_t*>(offsets_->data())[count]);
}

Tensor StringRows::take() {
  offsets_->touch();
  bytes_->touch();
  used_ = 0;
  return Tensor::of_strings(Shape{std::exchange(count_, 0)},
                            {std::exchange(offsets_, nullptr), std::exchange(bytes_, nullptr)});
}

}  // namespace spillway
