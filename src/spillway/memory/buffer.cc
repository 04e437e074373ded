#include "spillway/memory/buffer.h"

#include <cassert>
#include <cstdint>
#include <cstdlib>

#include "spillway/base/bytes.h"
#include "spillway/memory/asked_bytes.h"
#include "spillway/memory/slab_pool.h"

namespace spillway {

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  assert(other.origin_ != Origin::kBehind);
  free();
  reservation_ = std::move(other.reservation_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  origin_ = std::exchange(other.origin_, Origin::kNone);
  keep_ = std::move(other.keep_);
  return *this;
}

namespace {

// Not aligned_alloc(): glibc cuts what it gives out of a larger piece each time, so that buffers
// which come and go between others that stay spread those over five times their pages.
std::byte* allocate_aligned(std::size_t capacity) {
  auto* const memory = static_cast<std::byte*>(std::malloc(capacity + Buffer::kAlignment));
  if (memory == nullptr) return nullptr;
  const std::size_t before =
      Buffer::kAlignment - reinterpret_cast<std::uintptr_t>(memory) % Buffer::kAlignment;
  std::byte* const data = memory + before;
  data[-1] = static_cast<std::byte>(before);
  return data;
}

void free_aligned(std::byte* data) { std::free(data - static_cast<std::size_t>(data[-1])); }

}  // namespace

// No limit is so low that this does not fit: the budget need not be asked twice.
constexpr std::size_t kAlwaysPossible = 64 * 1024;

// The capacity; a refusal speaks of the size.
Status Buffer::reserve(const AccountPtr& account, Ask ask) {
  const AskedBytes asked(size_);
  switch (ask) {
    case Ask::kRequired: {
      SW_ASSIGN(reservation_, account->reserve(capacity_));
      break;
    }
    case Ask::kOptional:
    case Ask::kAhead: {
      auto got =
          ask == Ask::kAhead ? account->try_ahead(capacity_) : account->try_reserve(capacity_);
      if (!got) return out_of_resource(account->name(), ": no room now for ", format_bytes(size_));
      reservation_ = std::move(*got);
      break;
    }
    case Ask::kPressing:
      if (capacity_ >= kAlwaysPossible) SW_RETURN_IF_ERROR(account->check_possible(capacity_));
      [[fallthrough]];
    case Ask::kOwed:
      reservation_ = account->charge(capacity_);
      break;
  }
  return {};
}

std::optional<Buffer> Buffer::reuse(const AccountPtr& account, std::size_t bytes) {
  Buffer out;
  out.size_ = bytes;
  out.capacity_ = SlabPool::capacity_for(bytes);
  SlabPool::Slab idle = SlabPool::process().take_idle(out.capacity_, account);
  if (idle.data == nullptr) return std::nullopt;
  out.data_ = idle.data;
  out.reservation_ = std::move(idle.reservation);
  out.origin_ = Origin::kSlab;
  return out;
}

Result<Buffer> Buffer::unfilled(const AccountPtr& account, std::size_t bytes) {
  Buffer out;
  out.size_ = bytes;
  out.capacity_ = SlabPool::capacity_for(bytes);
  out.reservation_ = account->charge(0);
  out.data_ = SlabPool::map_closed(out.capacity_);
  if (out.data_ == nullptr) {
    return out_of_resource(account->name(), ": the system refused ", format_bytes(bytes));
  }
  out.origin_ = Origin::kSlab;
  return out;
}

Result<Buffer> Buffer::allocate(const AccountPtr& account, std::size_t bytes, Ask ask) {
  const bool large = bytes >= SlabPool::kLeast;
  const std::size_t capacity = large ? SlabPool::capacity_for(bytes) : small_capacity(bytes);
  if (large && (ask != Ask::kAhead || within_reach_ahead(account->budget()) / 2 >= capacity)) {
    if (auto idle = reuse(account, bytes)) return std::move(*idle);
  }
  Buffer out;
  out.size_ = bytes;
  out.capacity_ = capacity;
  SW_RETURN_IF_ERROR(out.reserve(account, ask));
  if (large) {
    out.data_ = SlabPool::map(capacity);
    out.origin_ = Origin::kSlab;
  } else {
    out.data_ = allocate_aligned(capacity);
    out.origin_ = Origin::kMalloc;
    out.touch();
  }
  if (out.data_ == nullptr) {
    out.origin_ = Origin::kNone;
    return out_of_resource(account->name(), ": the system refused ", format_bytes(bytes));
  }
  return out;
}

namespace {

// Bytes up to which they lie behind their buffer: with it they still come from malloc's
// per-thread lists, which aligned_alloc does not use.
constexpr std::size_t kMostBehind = 512;

// Gives an object `room` bytes of memory behind it.
template <class T>
struct RoomBehind {
  using value_type = T;
  explicit RoomBehind(std::size_t bytes) : room(bytes) {}
  template <class U>
  explicit(false) RoomBehind(const RoomBehind<U>& other) : room(other.room) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T) + room)); }
  void deallocate(T* object, std::size_t) { ::operator delete(object); }
  bool operator==(const RoomBehind&) const = default;
  std::size_t room;
};

}  // namespace

// Lets allocate_shared make one.
struct Buffer::Small : Buffer {};

Result<BufferPtr> Buffer::share(const AccountPtr& account, std::size_t bytes, Ask ask) {
  if (bytes > kMostBehind) {
    SW_ASSIGN(Buffer out, allocate(account, bytes, ask));
    return std::make_shared<Buffer>(std::move(out));
  }
  const std::size_t capacity = small_capacity(bytes);
  std::size_t room = capacity + kAlignment;
  auto out = std::allocate_shared<Small>(RoomBehind<Small>(room));
  out->size_ = bytes;
  out->capacity_ = capacity;
  SW_RETURN_IF_ERROR(out->reserve(account, ask));
  out->touch();
  void* behind = out.get() + 1;
  out->data_ = static_cast<std::byte*>(std::align(kAlignment, capacity, behind, room));
  out->origin_ = Origin::kBehind;
  return BufferPtr(std::move(out));
}

Buffer Buffer::adopt(std::byte* data, std::size_t bytes, std::shared_ptr<void> keep,
                     Reservation charged) {
  Buffer out;
  out.reservation_ = std::move(charged);
  out.reservation_.touch();
  out.data_ = data;
  out.size_ = bytes;
  out.capacity_ = bytes;
  out.origin_ = Origin::kAdopted;
  out.keep_ = std::move(keep);
  return out;
}

void Buffer::note_exported(bool by_user) {
  const auto bytes = static_cast<std::ptrdiff_t>(reservation_.bytes());
  if (by_user) {
    if (++arrays_ > 1) return;
    shown_by_ = reservation_.account();
    if (shown_by_ != nullptr) shown_by_->note_exported(bytes);
  } else if (--arrays_ == 0 && shown_by_ != nullptr) {
    std::exchange(shown_by_, nullptr)->note_exported(-bytes);
  }
}

void Buffer::free() {
  switch (origin_) {
    case Origin::kNone:
    case Origin::kBehind:
      break;
    case Origin::kMalloc:
      free_aligned(data_);
      break;
    case Origin::kSlab:
      reservation_.touch();
      SlabPool::process().give_back(data_, capacity_, std::move(reservation_));
      break;
    case Origin::kAdopted:
      keep_.reset();
      break;
  }
  origin_ = Origin::kNone;
  data_ = nullptr;
  reservation_.release();
}

}  // namespace spillway
