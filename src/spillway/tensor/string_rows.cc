#include "spillway/tensor/string_rows.h"

#include <algorithm>
#include <cstring>

namespace spillway {

Status StringRows::allocate(std::size_t bytes) {
  if (offsets_ == nullptr) {
    SW_ASSIGN(offsets_,
              Buffer::share(account_, static_cast<std::size_t>(most_ + 1) * sizeof(std::int64_t),
                            Buffer::Ask::kRequired));
    ends_ = reinterpret_cast<std::int64_t*>(offsets_->data());
    *ends_++ = 0;
  }
  auto larger = bytes < wanted_ ? Buffer::share(account_, wanted_, Buffer::Ask::kOptional)
                                : Result<BufferPtr>(BufferPtr());
  if (larger.ok() && larger.value() != nullptr) {
    bytes_ = std::move(larger).value();
  } else {
    SW_ASSIGN(bytes_, Buffer::share(account_, bytes, Buffer::Ask::kRequired));
  }
  place_ = begin_ = bytes_->data();
  left_ = bytes_->size();
  return {};
}

Result<std::byte*> StringRows::room(std::size_t n) {
  if (full()) return nullptr;
  if (bytes_ == nullptr || left_ < n) {
    if (count_ > 0) return nullptr;
    SW_RETURN_IF_ERROR(allocate(n));
  }
  return place_;
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
  place_ = begin_ + ends_[count - 1];  // of none: the 0 before the first end
  left_ = bytes_->size() - bytes();
}

Tensor StringRows::take() {
  offsets_->touch();
  bytes_->touch();
  left_ = 0;
  place_ = begin_;
  return Tensor::of_strings(Shape{std::exchange(count_, 0)},
                            {std::exchange(offsets_, nullptr), std::exchange(bytes_, nullptr)});
}

Result<Tensor> strings_within(const AccountPtr& account, Shape shape, BufferPtr bytes,
                              std::span<const std::string_view> items, Buffer::Ask ask) {
  SW_ASSIGN(BufferPtr offsets,
            Buffer::share(account, (2 * items.size() + 1) * sizeof(std::int64_t), ask));
  auto* to = reinterpret_cast<std::int64_t*>(offsets->data());
  const char* const base = reinterpret_cast<const char*>(bytes->data());
  *to++ = kApart;
  for (const std::string_view item : items) {
    *to++ = item.data() - base;
    *to++ = item.data() - base + static_cast<std::int64_t>(item.size());
  }
  offsets->touch();
  return Tensor::of_strings(std::move(shape), {std::move(offsets), std::move(bytes)});
}

bool strings_apart(const Tensor& strings) {
  return *reinterpret_cast<const std::int64_t*>(strings.string_offsets()->data()) == kApart;
}

std::pair<std::int64_t, std::int64_t> string_extent(const Tensor& strings) {
  const char* const base = reinterpret_cast<const char*>(strings.buffer()->data());
  std::int64_t begin = INT64_MAX;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < strings.count(); ++i) {
    const std::string_view item = strings.string_at(i);
    begin = std::min<std::int64_t>(begin, item.data() - base);
    end = std::max<std::int64_t>(end, item.data() - base + std::ssize(item));
  }
  return {std::min(begin, end), end};
}

}  // namespace spillway
