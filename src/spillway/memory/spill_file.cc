#include "spillway/memory/spill_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "spillway/base/bytes.h"
#include "spillway/base/test_point.h"

namespace spillway {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kBounce = kMiB;
constexpr std::size_t kLeastGrow = kMiB;
constexpr std::size_t kMostGrow = 64 * kMiB;

std::size_t padded(std::size_t length) { return (length + kBlock - 1) / kBlock * kBlock; }

// What a record occupies. Steps of an eighth of the power of two below: places of rows that differ
// a little in size are used again for each other.
std::size_t room_for(std::size_t length) {
  std::size_t step = kBlock;
  while (step * 16 <= length) step *= 2;
  return (length + step - 1) / step * step;
}

Mutex directory_mutex;
std::string& configured_directory() {
  static std::string& dir = *new std::string;
  return dir;
}

// A file without a name. Where the file system cannot make one it has a name for an instant.
int open_nameless(const std::string& dir) {
  for (const int direct : {O_DIRECT, 0}) {
    const int fd = open(dir.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC | direct, 0600);
    if (fd >= 0) return fd;
  }
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return -1;
  std::string name = dir + "/.spillway-XXXXXX";
  const int fd = mkostemp(name.data(), O_CLOEXEC);  // 0600
  if (fd >= 0) unlink(name.c_str());
  return fd;
}

bool is_memory(const std::string& dir) {
  struct statfs info{};
  if (statfs(dir.c_str(), &info) != 0) return false;
  return info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC;
}

Status disk_error(const std::string& dir, const char* doing) {
  const int why = errno;
  Status status = out_of_resource("spill: ", doing, " in ", dir, ": ", std::strerror(why));
  status.edit().file = dir;
  if (why == ENOSPC || why == EDQUOT || why == EFBIG) status.edit().type = "DiskFull";
  return status;
}

}  // namespace

void SpillFile::set_directory(const std::string& dir) {
  const MutexLock lock(directory_mutex);
  configured_directory() = dir;
}

Result<std::unique_ptr<SpillFile>> SpillFile::create(const std::string& dir) {
  std::vector<std::string> places;
  std::string only = dir;
  if (only.empty()) {
    const MutexLock lock(directory_mutex);
    only = configured_directory();
  }
  if (only.empty()) {
    if (const char* env = std::getenv("SPILLWAY_SPILL_DIR")) only = env;
  }
  if (!only.empty()) {
    places.push_back(only);
  } else {
    if (const char* env = std::getenv("TMPDIR")) places.emplace_back(env);
    places.insert(places.end(), {"/var/tmp", "/tmp", "."});
  }
  std::string tried;
  for (const std::string& place : places) {
    if (is_memory(place)) {
      tried += place + " (in memory, not on a disk); ";
      continue;
    }
    const int fd = open_nameless(place);
    if (fd >= 0) return std::unique_ptr<SpillFile>(new SpillFile(fd, place));
    tried += place + " (" + std::strerror(errno) + "); ";
  }
  Status status =
      out_of_resource("spill: no directory on a disk to spill to: tried ", tried,
                      "set one with spillway.configure(spill_dir=...) or SPILLWAY_SPILL_DIR");
  status.edit().type = "DiskFull";
  return status;
}

SpillFile::SpillFile(int fd, std::string directory) : fd_(fd), directory_(std::move(directory)) {}

SpillFile::~SpillFile() {
  close(fd_);
  std::free(bounce_);
}

// Transfers go through memory that is aligned as direct reads and writes need it.
bool SpillFile::make_bounce(std::size_t length) {
  const std::size_t wanted = std::min(kBounce, std::max(length, kBlock));
  if (bounce_size_ >= wanted) return true;
  std::free(bounce_);
  bounce_ = static_cast<std::byte*>(std::aligned_alloc(kBlock, wanted));
  bounce_size_ = bounce_ == nullptr ? 0 : wanted;
  return bounce_ != nullptr;
}

std::int64_t SpillFile::place(std::size_t length) {
  if (auto hole = holes_.find(length); hole != holes_.end() && !hole->second.empty()) {
    const std::int64_t offset = hole->second.back();
    hole->second.pop_back();
    return offset;
  }
  const std::int64_t offset = end_;
  end_ += static_cast<std::int64_t>(length);
  return offset;
}

Result<SpillSlot> SpillFile::write(std::span<const std::byte> bytes) {
  const std::size_t length = padded(bytes.size());
  const MutexLock lock(mutex_);
  if (!make_bounce(length)) return out_of_resource("spill: no memory for the bounce buffer");
  const std::size_t room = room_for(length);
  const std::int64_t end_before = end_;
  const std::int64_t offset = place(room);
  // ENOSPC shows here, before anything is given up, not in the middle of a record.
  if (end_ > allocated_) {
    // As much again as there is: a small spill does not take 64 MiB of somebody's disk.
    const std::size_t more = std::clamp(static_cast<std::size_t>(end_), kLeastGrow, kMostGrow);
    const auto grow = static_cast<std::int64_t>(std::max(more, room));
#ifdef SW_TEST_POINTS
    if (std::getenv("SPILLWAY_TEST_DISK_FULL") != nullptr) {
      errno = ENOSPC;
      end_ = end_before;
      return disk_error(directory_, "no room");
    }
#endif
    if (fallocate(fd_, 0, allocated_, grow) != 0) {
      const bool unsupported = errno == EOPNOTSUPP || errno == ENOSYS;
      if (!unsupported && fallocate(fd_, 0, offset, static_cast<off_t>(room)) != 0) {
        end_ = end_before;
        return disk_error(directory_, "no room");
      }
      if (!unsupported) {
        allocated_ = end_;
      } else {
        allocated_ += grow;
      }
    } else {
      allocated_ += grow;
    }
  }
  for (std::size_t done = 0; done < length;) {
    const std::size_t part = std::min(bounce_size_, length - done);
    const std::size_t payload = std::min(part, bytes.size() - std::min(bytes.size(), done));
    if (payload > 0) std::memcpy(bounce_, bytes.data() + done, payload);
    std::memset(bounce_ + payload, 0, part - payload);
    for (std::size_t written = 0; written < part;) {
      const ssize_t n = pwrite(fd_, bounce_ + written, part - written,
                               offset + static_cast<off_t>(done + written));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        const Status failed = disk_error(directory_, "write failed");
        holes_[room].push_back(offset);
        return failed;
      }
      written += static_cast<std::size_t>(n);
    }
    done += part;
  }
  live_ += room;
  return SpillSlot{offset, bytes.size(), crc32c(bytes)};
}

Status SpillFile::read(const SpillSlot& slot, std::byte* out) {
  const std::size_t length = padded(slot.length);
  {
    const MutexLock lock(mutex_);
    if (!make_bounce(length)) return out_of_resource("spill: no memory for the bounce buffer");
    for (std::size_t done = 0; done < length;) {
      const std::size_t part = std::min(bounce_size_, length - done);
      for (std::size_t got = 0; got < part;) {
        const ssize_t n =
            pread(fd_, bounce_ + got, part - got, slot.offset + static_cast<off_t>(done + got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return disk_error(directory_, "read failed");
        got += static_cast<std::size_t>(n);
      }
      const std::size_t payload = std::min(part, slot.length - std::min(slot.length, done));
      std::memcpy(out + done, bounce_, payload);
      done += part;
    }
  }
  const std::uint32_t found = crc32c({out, slot.length});
  if (found != slot.crc) {
    Status status = bad_data(Code::kDataLoss, "spill: record at ", slot.offset, " of ", slot.length,
                             " bytes must have checksum ", slot.crc, ": ", found);
    status.edit().file = directory_;
    status.edit().offset = slot.offset;
    status.edit().type = "CorruptFile";
    return status;
  }
  return {};
}

void SpillFile::release(const SpillSlot& slot) {
  const MutexLock lock(mutex_);
  const std::size_t room = room_for(padded(slot.length));
  live_ -= room;
  holes_[room].push_back(slot.offset);
}

std::size_t SpillFile::bytes_on_disk() const {
  const MutexLock lock(mutex_);
  return live_;
}

}  // namespace spillway
