#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "spillway/memory/budget.h"

namespace spillway {

// Bytes and the right to them in one object: freeing the bytes gives the reservation back.
// Aligned to a cache line, so that kernels may use aligned vector loads and DLPack consumers never
// have to copy. Move-only; tensors share one through shared_ptr<Buffer>.
class Buffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  // How bytes are asked for (see Account). kOptional: nullopt-like failure without waiting. kAhead:
  // the same for look-ahead, as Account::try_ahead.
  // kRequired: as Account::reserve. kOwed: always succeeds, may go into debt; for bytes that
  // Python has made already. kPressing: the same for bytes that nobody made yet and whoever asks
  // cannot wait for: refused where not even an empty budget has room.
  enum class Ask : unsigned char { kOptional, kAhead, kRequired, kOwed, kPressing };

  static Result<Buffer> allocate(const AccountPtr& account, std::size_t bytes, Ask ask);
  // The same, to be shared. Few bytes lie in one piece of memory with their buffer and its count:
  // small tensors come and go by the million.
  static Result<std::shared_ptr<Buffer>> share(const AccountPtr& account, std::size_t bytes,
                                               Ask ask);

  // An idle slab that has room for `bytes`, charged to `account` from now on; nothing without one.
  static std::optional<Buffer> reuse(const AccountPtr& account, std::size_t bytes);
  // Address space for `bytes` that costs nothing until it is grown (see Filling).
  static Result<Buffer> unfilled(const AccountPtr& account, std::size_t bytes);

  // Bytes that belong to somebody else; `keep` is dropped with the buffer. `charged` is what of
  // them counts as ours (0: the user's own, untracked).
  static Buffer adopt(std::byte* data, std::size_t bytes, std::shared_ptr<void> keep,
                      Reservation charged = {});

  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer() { free(); }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool adopted() const { return origin_ == Origin::kAdopted; }
  const AccountPtr& account() const { return reservation_.account(); }
  std::size_t charged() const { return reservation_.bytes(); }

  // The filled bytes are in physical memory from now on.
  void touch() { reservation_.touch(); }
  void touch(std::size_t bytes) { reservation_.touch(bytes); }
  std::size_t use_guarantee() { return reservation_.use_guarantee(); }
  void leave_guarantee() { reservation_.leave_guarantee(); }
  void enter_guarantee(const AccountPtr& to) { reservation_.enter_guarantee(to); }
  // Rule R4; see Reservation::transfer.
  bool transfer(const AccountPtr& to) { return reservation_.transfer(to); }
  // The user got, or let go of, an array that shows these bytes; counted once for all of them.
  // Under the front's lock: never two at a time.
  void note_exported(bool by_user);

 private:
  friend class Filling;
  // kBehind: in the memory behind the object, which must stay where it is.
  enum class Origin : unsigned char { kNone, kMalloc, kSlab, kAdopted, kBehind };
  struct Small;
  Buffer() = default;
  static std::size_t small_capacity(std::size_t bytes) {
    return (bytes / kAlignment + 1) * kAlignment;
  }
  Status reserve(const AccountPtr& account, Ask ask);
  void free();

  Reservation reservation_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  Origin origin_ = Origin::kNone;
  std::shared_ptr<void> keep_;
  int arrays_ = 0;       // that show these bytes to the user
  AccountPtr shown_by_;  // the account when the first was made; the charge may have moved since
};

using BufferPtr = std::shared_ptr<Buffer>;

}  // namespace spillway
