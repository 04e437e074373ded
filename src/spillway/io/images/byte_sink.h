#pragma once

#include <optional>
#include <span>

#include "spillway/memory/buffer.h"

namespace spillway {

// Bytes of a number that is not known beforehand, charged as they come. One thread.
class ByteSink {
 public:
  ByteSink(AccountPtr account, Buffer::Ask ask) : account_(std::move(account)), ask_(ask) {}

  // False: there was no room, see status(). For callbacks of C libraries, which a Status must not
  // live in.
  bool append(const std::byte* bytes, std::size_t n);
  const Status& status() const { return status_; }
  std::span<const std::byte> bytes() const { return {buffer_ ? buffer_->data() : nullptr, size_}; }

 private:
  Status make_room(std::size_t bytes);

  const AccountPtr account_;
  const Buffer::Ask ask_;
  std::optional<Buffer> buffer_;
  std::size_t size_ = 0;
  Status status_;
};

}  // namespace spillway
