#pragma once

#include <cstddef>
#include <memory>

#include "spillway/base/mutex.h"
#include "spillway/memory/buffer.h"

namespace spillway {

// A large buffer that is filled from front to back by pieces which hold memory of their own until
// they are copied in: a batch and its rows (rule R5). It is charged as far as it is filled, so the
// pieces move into it and nothing needs its room twice. Where there is plenty of room the whole is
// taken at once; what is not filled yet then gives way under pressure, as an idle slab does.
//
// One thread fills; the budget may ask for the rest back on any thread at any time. The buffer
// belongs to the filler alone until this object is gone.
class Filling {
 public:
  // Less than this is not worth it.
  static constexpr std::size_t kLeast = std::size_t{1} << 20;

  // Never waits, and charges nothing that is needed elsewhere. kAll: so many bytes will come, so
  // that more than the limit is refused now (ElementTooLarge); kAtMost: or fewer.
  enum class Comes : unsigned char { kAll, kAtMost };
  static Result<std::unique_ptr<Filling>> begin(const AccountPtr& account, std::size_t bytes,
                                                Comes comes);
  ~Filling();
  Filling(const Filling&) = delete;
  Filling& operator=(const Filling&) = delete;

  const BufferPtr& buffer() const { return buffer_; }
  // Before the first `bytes` bytes are filled. An error changes nothing.
  Status extend(std::size_t bytes, Buffer::Ask ask = Buffer::Ask::kRequired);
  // The first `bytes` bytes are in physical memory now.
  void touch(std::size_t bytes);
  // Nothing comes behind the first `bytes` bytes: they are the buffer, the memory behind them goes
  // back.
  void end(std::size_t bytes);

 private:
  Filling(AccountPtr account, Buffer buffer, Comes comes);
  Status refused(Status why, std::size_t bytes) const;
  bool take(Reservation more) SW_REQUIRES(mutex_);
  std::size_t give_way();
  std::size_t shrink(std::size_t bytes) SW_REQUIRES(mutex_);
  std::size_t rounded(std::size_t bytes) const;  // the last piece: all of the slab
  std::size_t whole_pages(std::size_t bytes) const;

  const AccountPtr account_;
  const BufferPtr buffer_;
  const Comes comes_;
  Mutex mutex_;                                   // guards the buffer's reservation, too
  std::size_t needed_ SW_GUARDED_BY(mutex_) = 0;  // filled, or about to be
  Budget::Registration pressure_;                 // last: no call comes in once it is gone
};

}  // namespace spillway
