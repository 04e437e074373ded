#include "spillway/io/images/workspace.h"

#include "spillway/base/bytes.h"

namespace spillway {

Status Workspace::reserve(std::size_t bytes) {
  switch (ask_) {
    case Buffer::Ask::kRequired: {
      SW_ASSIGN(Reservation got, account_->reserve(bytes));
      reserved_.push_back(std::move(got));
      break;
    }
    case Buffer::Ask::kOptional:
    case Buffer::Ask::kAhead: {
      auto got = account_->try_reserve(bytes);
      if (!got) {
        return out_of_resource(account_->name(), ": no room now for ", format_bytes(bytes));
      }
      reserved_.push_back(std::move(*got));
      break;
    }
    case Buffer::Ask::kPressing:
      SW_RETURN_IF_ERROR(account_->check_possible(bytes));
      [[fallthrough]];
    case Buffer::Ask::kOwed:
      reserved_.push_back(account_->charge(bytes));
      break;
  }
  return {};
}

Result<std::byte*> Workspace::allocate(std::size_t bytes) {
  SW_ASSIGN(Buffer got, Buffer::allocate(account_, bytes, ask_));
  buffers_.push_back(std::move(got));
  buffers_.back().touch();
  return buffers_.back().data();
}

}  // namespace spillway
