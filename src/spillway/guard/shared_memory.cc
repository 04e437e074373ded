#include "spillway/guard/shared_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/memory/machine.h"

namespace spillway {
namespace {

constexpr std::size_t kSmall = std::size_t{64} << 10U;

Status refused(std::string_view what) {
  return out_of_resource("shared memory: ", what, ": ", std::strerror(errno));
}

Result<std::byte*> map_all(int fd, std::size_t bytes) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (mapped == MAP_FAILED) return refused("the system refused " + format_bytes(bytes));
  return static_cast<std::byte*>(mapped);
}

// Everything that is mapped. A forked child gets it as memory of its own: arrays that the user
// holds lie there.
class Mapped {
 public:
  struct Range {
    std::byte* base;
    std::size_t size;
    int fd;
  };
  static Mapped& all() {
    static auto& all = *new Mapped;
    return all;
  }
  void add(Range range) {
    const std::lock_guard lock(mutex_);
    ranges_.push_back(range);
  }
  void remove(const std::byte* base) {
    const std::lock_guard lock(mutex_);
    std::erase_if(ranges_, [base](const Range& range) { return range.base == base; });
  }

 private:
  Mapped() {
    pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); },
                   [] {
                     for (const Range& range : all().ranges_) make_private(range);
                     all().mutex_.unlock();
                   });
  }
  static void make_private(const Range& range) {
    [[maybe_unused]] void* const same = mmap(range.base, range.size, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, range.fd, 0);
  }
  std::mutex mutex_;  // held across a fork, so that the child finds the list whole
  std::vector<Range> ranges_;
};

}  // namespace

Result<std::shared_ptr<SharedMemory>> SharedMemory::create(Budget& budget, std::size_t bytes) {
  bytes = rounded(bytes);
  const int fd = memfd_create("spillway", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return refused("no file in memory");
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    Status status = refused("a file of " + format_bytes(bytes));
    close(fd);
    return status;
  }
  auto base = map_all(fd, bytes);
  if (!base.ok()) {
    close(fd);
    return std::move(base).status();
  }
  const auto out = std::shared_ptr<SharedMemory>(new SharedMemory(fd, base.value(), bytes));
  out->budget_ = &budget;
  out->account_ = budget.open_account("shared memory, idle");
  {
    const MutexLock lock(out->mutex_);
    out->free_.emplace(0, Free{bytes, State::kEmpty});
  }
  out->pressure_ = budget.on_pressure(
      ReclaimOrder::kIdleSlabs, [self = out.get()](std::size_t) { return self->drop_idle(); });
  return out;
}

Result<std::shared_ptr<SharedMemory>> SharedMemory::open(int fd) {
  struct stat facts{};
  if (fstat(fd, &facts) != 0) return refused("its descriptor");
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  SW_ASSIGN(std::byte* const base, map_all(fd, bytes));
  // From here on nobody can write to it by its number: code in a worker that writes to descriptors
  // it did not open would change values of others.
  const int readable =
      ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC);
  close(fd);
  return std::shared_ptr<SharedMemory>(new SharedMemory(readable, base, bytes));
}

SharedMemory::SharedMemory(int fd, std::byte* base, std::size_t size)
    : fd_(fd), base_(base), size_(size) {
  Mapped::all().add({base, size, fd});
}

SharedMemory::~SharedMemory() {
  pressure_.reset();
  drop_idle();
  Mapped::all().remove(base_);
  munmap(base_, size_);
  if (fd_ >= 0) close(fd_);
}

SharedMemory::Piece& SharedMemory::Piece::operator=(Piece&& other) noexcept {
  give_back();
  memory_ = std::move(other.memory_);
  offset_ = other.offset_;
  size_ = std::exchange(other.size_, 0);
  paid_ = std::move(other.paid_);
  return *this;
}

void SharedMemory::Piece::give_back() {
  if (memory_ == nullptr) return;
  paid_.release();
  std::exchange(memory_, nullptr)->give_back(offset_, size_);
}

SharedMemory::Piece SharedMemory::Piece::split(std::size_t bytes) {
  Piece first;
  first.memory_ = memory_;
  first.offset_ = offset_;
  first.size_ = bytes;
  first.paid_ = paid_.split(bytes);
  offset_ += bytes;
  size_ -= bytes;
  if (size_ == 0) memory_ = nullptr;
  return first;
}

BufferPtr SharedMemory::Piece::share(std::size_t bytes) && {
  std::byte* const data = this->bytes().data();
  Reservation paid = std::move(paid_);
  auto keep = std::make_shared<Piece>(std::move(*this));
  return std::make_shared<Buffer>(Buffer::adopt(data, bytes, std::move(keep), std::move(paid)));
}

Result<SharedMemory::Piece> SharedMemory::reserve(const AccountPtr& account, std::size_t bytes,
                                                  const std::function<bool()>& give_up) {
  if (bytes <= kSmall && budget_->used() > budget_->effective_limit()) return take(account, bytes);
  SW_ASSIGN(Reservation paid, account->reserve(rounded(std::max<std::size_t>(bytes, 1)), give_up));
  Piece out = take(std::move(paid));
  if (!out) return out_of_resource("shared memory: no address is left for ", format_bytes(bytes));
  return out;
}

SharedMemory::Piece SharedMemory::try_take(const AccountPtr& account, std::size_t bytes) {
  auto paid = account->try_reserve(rounded(std::max<std::size_t>(bytes, 1)));
  return paid ? take(std::move(*paid)) : Piece();
}

SharedMemory::Piece SharedMemory::take(const AccountPtr& account, std::size_t bytes) {
  return take(account->charge(rounded(std::max<std::size_t>(bytes, 1))));
}

SharedMemory::Piece SharedMemory::take(Reservation paid) {
  Piece out;
  out.size_ = paid.bytes();
  std::optional<std::size_t> offset;
  {
    const MutexLock lock(mutex_);
    offset = find(out.size_);
  }
  if (!offset) return {};
  out.memory_ = shared_from_this();
  out.offset_ = *offset;
  out.paid_ = std::move(paid);
  out.paid_.touch();
  return out;
}

std::span<std::byte> SharedMemory::at(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return {};
  return {base_ + offset, bytes};
}

std::optional<std::size_t> SharedMemory::find(std::size_t bytes) {
  // What is in memory already comes first: its pages need not be made again.
  auto found = find_in(State::kIdle, bytes);
  if (!found) found = find_in(State::kEmpty, bytes);
  if (found || idle_ == 0) return found;
  empty_all();
  return find_in(State::kEmpty, bytes);
}

std::optional<std::size_t> SharedMemory::find_in(State state, std::size_t bytes) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second.state != state || it->second.bytes < bytes) continue;
    const std::size_t offset = it->first;
    const std::size_t rest = it->second.bytes - bytes;
    free_.erase(it);
    if (rest > 0) free_.emplace(offset + bytes, Free{rest, state});
    if (state == State::kIdle) {
      no_longer_idle(bytes);
    } else {
      bytes_elsewhere() += bytes;
    }
    return offset;
  }
  return std::nullopt;
}

void SharedMemory::give_back(std::size_t offset, std::size_t bytes) {
  if (!home_.here()) return;
  const MutexLock lock(mutex_);
  const bool idle = pay_for_idle(bytes);
  if (!idle) punch(offset, bytes);
  add_free(offset, bytes, idle ? State::kIdle : State::kEmpty);
}

bool SharedMemory::pay_for_idle(std::size_t bytes) {
  if (idle_ + bytes > kMostIdle) return false;
  auto paid = account_->try_reserve(bytes);
  if (!paid) return false;
  paid->touch();
  paid_.push_back(std::move(*paid));
  idle_ += bytes;
  return true;
}

void SharedMemory::no_longer_idle(std::size_t bytes) {
  idle_ -= bytes;
  while (bytes > 0) {
    Reservation& last = paid_.back();
    if (last.bytes() > bytes) {
      last.shrink(last.bytes() - bytes);
      return;
    }
    bytes -= last.bytes();
    paid_.pop_back();
  }
}

void SharedMemory::add_free(std::size_t offset, std::size_t bytes, State state) {
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && after->first == offset + bytes && after->second.state == state) {
    bytes += after->second.bytes;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second.bytes == offset && before->second.state == state) {
      before->second.bytes += bytes;
      return;
    }
  }
  free_.emplace(offset, Free{bytes, state});
}

std::size_t SharedMemory::empty_all() {
  std::map<std::size_t, Free> before;
  before.swap(free_);
  for (const auto& [offset, piece] : before) {
    if (piece.state == State::kIdle) punch(offset, piece.bytes);
    add_free(offset, piece.bytes, State::kEmpty);
  }
  paid_.clear();
  return std::exchange(idle_, 0);
}

void SharedMemory::punch(std::size_t offset, std::size_t bytes) const {
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(bytes));
  bytes_elsewhere() -= bytes;
}

std::size_t SharedMemory::drop_idle() {
  if (!home_.here()) return 0;
  const MutexLock lock(mutex_);
  return idle_ == 0 ? 0 : empty_all();
}

std::size_t SharedMemory::idle_bytes() const {
  const MutexLock lock(mutex_);
  return idle_;
}

}  // namespace spillway
