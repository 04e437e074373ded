#pragma once

#include <vector>

#include "spillway/memory/buffer.h"

namespace spillway {

// The bytes a decoder works in beside its pixels, charged until the workspace goes. One thread.
class Workspace {
 public:
  Workspace(AccountPtr account, Buffer::Ask ask) : account_(std::move(account)), ask_(ask) {}

  // Another, empty one of the same account: for bytes that need not stay so long.
  Workspace sibling() const { return {account_, ask_}; }

  // The right to `bytes` more, for memory that a library takes.
  Status reserve(std::size_t bytes);
  // Memory itself, not cleared.
  Result<std::byte*> allocate(std::size_t bytes);

 private:
  const AccountPtr account_;
  const Buffer::Ask ask_;
  std::vector<Reservation> reserved_;
  std::vector<Buffer> buffers_;
};

}  // namespace spillway
