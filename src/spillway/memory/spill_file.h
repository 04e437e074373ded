#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/base/status.h"

namespace spillway {

// Where spilled bytes went. `length` is the payload's.
struct SpillSlot {
  std::int64_t offset = -1;
  std::size_t length = 0;
  std::uint32_t crc = 0;
};

// A nameless file (O_TMPFILE, 0600) that is gone with the process, whatever ends it. Written past
// the page cache where the file system allows, so that spilling does not fill the container with
// cache (measured: 0 MB charged, random reads four times faster than through the cache under a
// limit). Freed slots are used again. Thread-safe. One bounce buffer of at most 1 MiB is charged
// to nobody: it is part of the process's base.
class SpillFile {
 public:
  // In `dir`, or configured, or TMPDIR, /var/tmp, /tmp, the working directory: the first that is
  // on a disk. A tmpfs is memory and is refused.
  static Result<std::unique_ptr<SpillFile>> create(const std::string& dir = "");
  static void set_directory(const std::string& dir);

  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // kResource (ENOSPC) when the disk is full.
  Result<SpillSlot> write(std::span<const std::byte> bytes);
  // kData (DATA_LOSS) when the record does not have its checksum any more.
  Status read(const SpillSlot& slot, std::byte* out);
  void release(const SpillSlot& slot);

  std::size_t bytes_on_disk() const;
  const std::string& directory() const { return directory_; }

 private:
  SpillFile(int fd, std::string directory);
  std::int64_t place(std::size_t room) SW_REQUIRES(mutex_);
  bool make_bounce(std::size_t length) SW_REQUIRES(mutex_);

  const int fd_;
  const std::string directory_;
  mutable Mutex mutex_;
  std::int64_t end_ SW_GUARDED_BY(mutex_) = 0;
  std::int64_t allocated_ SW_GUARDED_BY(mutex_) = 0;
  std::size_t live_ SW_GUARDED_BY(mutex_) = 0;
  // Freed places by their size, used again for records that need as much.
  std::unordered_map<std::size_t, std::vector<std::int64_t>> holes_ SW_GUARDED_BY(mutex_);
  std::byte* bounce_ SW_GUARDED_BY(mutex_) = nullptr;
  std::size_t bounce_size_ SW_GUARDED_BY(mutex_) = 0;
};

}  // namespace spillway
