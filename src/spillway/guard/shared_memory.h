#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spillway/base/forks.h"
#include "spillway/base/mutex.h"
#include "spillway/memory/buffer.h"

namespace spillway {

// Memory that this process and its workers see at the same offsets: one file without a name, in
// memory and outside /dev/shm, sealed so that nobody can change its size under the others. The
// process that made it hands out pieces; a worker writes only where it was told to. What is free
// but still in physical memory stays charged as idle, up to a bound, and is the first to go under
// pressure. A child that the user forks sees what is there, for as long as the parent keeps it;
// what the child writes or drops is not the parent's.
class SharedMemory : public std::enable_shared_from_this<SharedMemory> {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kMostIdle = std::size_t{64} << 20U;

  // `bytes` of address space; none of it is in memory yet.
  static Result<std::shared_ptr<SharedMemory>> create(Budget& budget, std::size_t bytes);
  // A worker's view of it; takes the descriptor. Nothing can be allocated there.
  static Result<std::shared_ptr<SharedMemory>> open(int fd);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int fd() const { return fd_; }
  std::size_t size() const { return size_; }
  // Whole pages for `bytes`.
  static std::size_t rounded(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

  // Whole pages of it, with the right to them. Move-only; goes back when it dies.
  class Piece {
   public:
    Piece() = default;
    Piece(Piece&& other) noexcept { *this = std::move(other); }
    Piece& operator=(Piece&& other) noexcept;
    ~Piece() { give_back(); }
    explicit operator bool() const { return memory_ != nullptr; }
    std::uint64_t offset() const { return offset_; }
    std::span<std::byte> bytes() const { return memory_->at(offset_, size_); }
    // Cuts off the first `bytes` (whole pages).
    Piece split(std::size_t bytes);
    // As a buffer of `bytes`, whose last owner gives the piece back.
    BufferPtr share(std::size_t bytes) &&;

   private:
    friend class SharedMemory;
    void give_back();
    std::shared_ptr<SharedMemory> memory_;
    std::size_t offset_ = 0;
    std::size_t size_ = 0;
    Reservation paid_;
  };
  // A piece of at least `bytes`, reserved as Account::reserve() does: it may wait, and be refused.
  // Where code in a worker has allocated beyond the limit already, a small one is charged as a
  // debt: refusing it would free nothing. Its content is not defined.
  Result<Piece> reserve(const AccountPtr& account, std::size_t bytes,
                        const std::function<bool()>& give_up = nullptr);
  // The same where there is room for it now; else false.
  Piece try_take(const AccountPtr& account, std::size_t bytes);
  // The same of bytes that are reserved already, whole pages of them.
  Piece take(Reservation paid);
  // The same charged to the account, which may go into debt: for what exists already.
  Piece take(const AccountPtr& account, std::size_t bytes);
  // The bytes there; empty where that is not all inside.
  std::span<std::byte> at(std::uint64_t offset, std::uint64_t bytes) const;

  // Gives physical memory of free pieces back to the machine; returns how much.
  std::size_t drop_idle();
  std::size_t idle_bytes() const;

 private:
  enum class State : unsigned char { kIdle, kEmpty };  // kEmpty: not in physical memory
  struct Free {
    std::size_t bytes;
    State state;
  };
  SharedMemory(int fd, std::byte* base, std::size_t size);

  std::optional<std::size_t> find(std::size_t bytes) SW_REQUIRES(mutex_);
  std::optional<std::size_t> find_in(State state, std::size_t bytes) SW_REQUIRES(mutex_);
  void give_back(std::size_t offset, std::size_t bytes);
  void add_free(std::size_t offset, std::size_t bytes, State state) SW_REQUIRES(mutex_);
  std::size_t empty_all() SW_REQUIRES(mutex_);
  bool pay_for_idle(std::size_t bytes) SW_REQUIRES(mutex_);
  void no_longer_idle(std::size_t bytes) SW_REQUIRES(mutex_);
  void punch(std::size_t offset, std::size_t bytes) const;

  const HomeProcess home_;
  const int fd_;
  std::byte* const base_;
  const std::size_t size_;
  Budget* budget_ = nullptr;  // of whoever made it
  AccountPtr account_;        // pays for what is idle
  mutable Mutex mutex_;
  std::map<std::size_t, Free> free_ SW_GUARDED_BY(mutex_);  // by offset; neighbours are joined
  std::size_t idle_ SW_GUARDED_BY(mutex_) = 0;
  std::vector<Reservation> paid_ SW_GUARDED_BY(mutex_);  // together idle_
  Budget::Registration pressure_;
};

}  // namespace spillway
