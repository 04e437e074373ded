#include "spillway/memory/filling.h"

#include <algorithm>
#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/memory/slab_pool.h"

namespace spillway {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kStep = kMiB;  // taken at a time while there is room

}  // namespace

Result<std::unique_ptr<Filling>> Filling::begin(const AccountPtr& account, std::size_t bytes,
                                                Comes comes) {
  if (comes == Comes::kAll && bytes > account->budget().limit()) {
    SW_RETURN_IF_ERROR(account->check_possible(bytes));
  }
  // An idle slab counts as room that others look ahead into: it is taken only where there is more.
  std::optional<Buffer> whole;
  if (within_reach(account->budget()) / 2 >= SlabPool::capacity_for(bytes)) {
    auto made = Buffer::allocate(account, bytes, Buffer::Ask::kOptional);
    if (made.ok()) whole = std::move(made).value();
  }
  if (!whole) {
    SW_ASSIGN(whole, Buffer::unfilled(account, bytes));
  }
  std::unique_ptr<Filling> out(new Filling(account, std::move(*whole), comes));
  out->pressure_ = account->budget().on_pressure(
      ReclaimOrder::kIdleSlabs, [filling = out.get()](std::size_t) { return filling->give_way(); });
  return out;
}

Filling::Filling(AccountPtr account, Buffer buffer, Comes comes)
    : account_(std::move(account)),
      buffer_(std::make_shared<Buffer>(std::move(buffer))),
      comes_(comes) {}

Filling::~Filling() { pressure_.reset(); }

std::size_t Filling::whole_pages(std::size_t bytes) const {
  return std::min((bytes + kPageBytes - 1) / kPageBytes * kPageBytes, buffer_->capacity_);
}

std::size_t Filling::rounded(std::size_t bytes) const {
  return bytes >= buffer_->size() ? buffer_->capacity_ : whole_pages(bytes);
}

bool Filling::take(Reservation more) {
  Reservation& held = buffer_->reservation_;
  const std::size_t before = held.bytes();
  if (!held.absorb(more)) return false;
  if (SlabPool::open(buffer_->data(), before, held.bytes())) return true;
  held.shrink(before);
  return false;
}

Status Filling::extend(std::size_t bytes, Buffer::Ask ask) {
  // The last pages of a slab are taken with the last bytes where they are to be had for nothing.
  const std::size_t wanted = whole_pages(bytes);
  for (;;) {
    std::size_t have = 0;
    {
      const MutexLock lock(mutex_);
      have = buffer_->charged();
      if (wanted <= have) {
        needed_ = std::max(needed_, wanted);
        return {};
      }
      const std::size_t generous = rounded(std::max(bytes, have + kStep));
      if (auto some = account_->try_reserve(generous - have)) {
        needed_ = wanted;
        if (take(std::move(*some))) return {};
        break;
      }
    }
    if (ask == Buffer::Ask::kOptional) {
      return out_of_resource(account_->name(), ": no room now for ", format_bytes(bytes));
    }
    // Not under the lock: our own rest may have to give way.
    auto reserved = account_->reserve(wanted - have);
    if (!reserved.ok()) return refused(std::move(reserved).status(), bytes);
    Reservation more = std::move(reserved).value();
    const MutexLock lock(mutex_);
    if (buffer_->charged() != have) continue;  // gave way meanwhile
    needed_ = wanted;
    if (take(std::move(more))) return {};
    break;
  }
  return out_of_resource(account_->name(), ": the system refused ", format_bytes(bytes));
}

// The last piece may be small: what does not fit is what it was to become.
Status Filling::refused(Status why, std::size_t bytes) const {
  if (why.kind() != ErrorKind::kResource) return why;
  SW_RETURN_IF_ERROR(account_->check_possible(comes_ == Comes::kAll ? buffer_->size() : bytes));
  return why;
}

void Filling::touch(std::size_t bytes) {
  const MutexLock lock(mutex_);
  buffer_->touch(bytes);
}

void Filling::end(std::size_t bytes) {
  pressure_.reset();
  // A slab is worth more whole, since it is used again; not where another would not fit beside it.
  const bool tight = within_reach(account_->budget()) < buffer_->capacity_;
  const MutexLock lock(mutex_);
  needed_ = tight ? whole_pages(bytes) : rounded(bytes);
  shrink(needed_);
  buffer_->size_ = std::min(buffer_->size_, bytes);
}

std::size_t Filling::give_way() {
  if (!mutex_.try_lock()) return 0;
  // What is filled came out of the pool as long as there was room; the guarantee was for it.
  const std::size_t freed = shrink(needed_) + buffer_->use_guarantee();
  mutex_.unlock();
  return freed;
}

std::size_t Filling::shrink(std::size_t bytes) {
  Reservation& held = buffer_->reservation_;
  const std::size_t before = held.bytes();
  if (bytes >= before) return 0;
  SlabPool::close(buffer_->data(), bytes, buffer_->capacity_);
  held.shrink(bytes);
  return before - bytes;
}

}  // namespace spillway
