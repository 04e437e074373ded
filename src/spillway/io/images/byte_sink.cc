#include "spillway/io/images/byte_sink.h"

#include <algorithm>
#include <cstring>

namespace spillway {

Status ByteSink::make_room(std::size_t bytes) {
  if (buffer_ && buffer_->size() >= bytes) return {};
  const std::size_t least = std::size_t{16} << 10U;
  SW_ASSIGN(Buffer larger, Buffer::allocate(account_, std::max(least, 2 * bytes), ask_));
  if (size_ > 0) std::memcpy(larger.data(), buffer_->data(), size_);
  buffer_ = std::move(larger);
  buffer_->touch();
  return {};
}

bool ByteSink::append(const std::byte* bytes, std::size_t n) {
  if (!status_.ok()) return false;
  status_ = make_room(size_ + n);
  if (!status_.ok()) return false;
  if (n > 0) std::memcpy(buffer_->data() + size_, bytes, n);
  size_ += n;
  return true;
}

}  // namespace spillway
