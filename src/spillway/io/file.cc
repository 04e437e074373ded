#include "spillway/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <optional>

#include "spillway/base/interrupt.h"
#include "spillway/base/mutex.h"
#include "spillway/base/test_point.h"
#include "spillway/io/other_stores.h"
#include "spillway/io/regular_file.h"
#include "spillway/observe/board.h"

namespace spillway {
namespace {

// Ctrl-C is heard between two of them: some milliseconds from a disk.
constexpr std::size_t kAtOnce = std::size_t{8} << 20U;

class LocalFile;

// The local files that hold a descriptor and are not being read, the longest unused first.
struct Idle {
  Mutex mutex;
  std::list<const LocalFile*> files SW_GUARDED_BY(mutex);
};
Idle& idle() {
  static Idle& all = *new Idle;  // outlives every file
  return all;
}

class LocalFile final : public File {
 public:
  LocalFile(const std::string& path, int fd, const struct stat& about, bool grows)
      : File(path, static_cast<std::uint64_t>(about.st_size)),
        stamp_(stamp_of(about)),
        grows_(grows),
        changed_ns_(stamp_.changed_ns),
        fd_(fd) {
    const MutexLock lock(idle().mutex);
    at_ = idle().files.insert(idle().files.end(), this);
    listed_ = true;
  }
  ~LocalFile() override {
    const MutexLock lock(idle().mutex);
    if (listed_) idle().files.erase(at_);
    if (fd_ >= 0) ::close(fd_);
  }

  // Gives back the descriptor that was longest unused. False: there is none.
  static bool close_one() {
    const MutexLock lock(idle().mutex);
    if (idle().files.empty()) return false;
    const LocalFile* file = idle().files.front();
    idle().files.pop_front();
    file->listed_ = false;
    ::close(file->fd_);
    file->fd_ = -1;
    return true;
  }

  // A descriptor; files nobody reads give theirs away for it.
  static Result<int> open_descriptor(const std::string& path) {
    for (;;) {
      auto fd = open_regular(path, O_RDONLY);
      if (fd.ok() || fd.error().code() != Code::kResourceExhausted || !close_one()) return fd;
    }
  }

  std::optional<FileStamp> stamp() const override { return stamp_; }

 protected:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    SW_RETURN_IF_ERROR(begin_reading());
    ssize_t got = 0;
    do {
      got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    } while (got < 0 && errno == EINTR);
    const int error = errno;
    // After the bytes: whatever was written before they were read shows.
    Status same = got < 0 ? file_error(path(), error, static_cast<std::int64_t>(offset))
                          : check_same(fd_, offset);
    end_reading();
    SW_RETURN_IF_ERROR(same);
    return static_cast<std::size_t>(got);
  }

 private:
  // Until end_reading() the descriptor is there and stays.
  Status begin_reading() const {
    const MutexLock opening(opening_);
    {
      const MutexLock lock(idle().mutex);
      ++readers_;
      if (listed_) {
        idle().files.erase(at_);
        listed_ = false;
      }
      if (fd_ >= 0) return {};
    }
    auto opened = open_descriptor(path());
    Status same = opened.ok() ? check_same(opened.value(), 0) : opened.error();
    const MutexLock lock(idle().mutex);
    if (same.ok()) {
      fd_ = opened.value();
      return {};
    }
    --readers_;
    if (opened.ok()) ::close(opened.value());
    return same;
  }
  void end_reading() const {
    const MutexLock lock(idle().mutex);
    if (--readers_ > 0) return;
    at_ = idle().files.insert(idle().files.end(), this);
    listed_ = true;
  }

  // Whether the file is what it was when it was opened; bytes at `offset` were just read.
  Status check_same(int fd, std::uint64_t offset) const {
    struct stat about{};
    if (::fstat(fd, &about) != 0) return file_error(path(), errno);
    FileStamp now = stamp_of(about);
    FileStamp known = stamp_;
    known.changed_ns = changed_ns_;
    if (now == known) return {};
    if (grows_ && now.inode == known.inode && now.size >= known.size) return {};
    // A file that was removed or renamed is whole as long as it is open.
    const bool elsewhere = now.links < known.links || now.changed_ns != known.changed_ns;
    if (elsewhere && ::stat(path().c_str(), &about) == 0) {
      const FileStamp named = stamp_of(about);
      if (named.device != now.device || named.inode != now.inode) now = named;
    } else if (elsewhere && errno == ENOENT && now.size == known.size &&
               now.modified_ns == known.modified_ns) {
      now = known;
    }
    const std::string what = what_changed(known, now);
    if (what.empty()) {
      changed_ns_ = now.changed_ns;
      return {};
    }
    if (now.inode == known.inode && now.size < known.size) offset = now.size;
    return corrupt_file(path(), offset, path(), ": the file was changed while it was read: ", what);
  }

  const FileStamp stamp_;
  const bool grows_;
  mutable std::atomic<std::int64_t> changed_ns_;  // newer ones that mean nothing for the content
  mutable Mutex opening_;                         // one thread opens it again
  // Under idle().mutex; fd_ also read by whoever is between begin_reading and end_reading.
  mutable int fd_;
  mutable int readers_ = 0;
  mutable bool listed_ = false;
  mutable std::list<const LocalFile*>::iterator at_;
};

struct Openers {
  Mutex mutex;
  std::map<std::string, FileOpener, std::less<>> by_scheme SW_GUARDED_BY(mutex);
};
Openers& openers() {
  static Openers& all = *new Openers;
  return all;
}

FileOpener opener_of(std::string_view path) {
  const MutexLock lock(openers().mutex);
  auto found = openers().by_scheme.find(scheme_of(path));
  if (found == openers().by_scheme.end()) found = openers().by_scheme.find("");
  return found == openers().by_scheme.end() ? nullptr : found->second;
}

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
      return Code::kPermissionDenied;
    case EEXIST:
      return Code::kAlreadyExists;
    case EISDIR:
    case ENOTEMPTY:
      return Code::kFailedPrecondition;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Code::kResourceExhausted;
    case ENAMETOOLONG:
    case EINVAL:
    case ELOOP:
      return Code::kInvalidArgument;
    default:
      return Code::kUnavailable;
  }
}

}  // namespace

Status file_error(const std::string& path, int error, std::int64_t offset) {
  const Code code = code_of(error);
  // A disk that fails may answer the next time; what is missing or forbidden will not.
  const ErrorKind kind = code == Code::kUnavailable         ? ErrorKind::kTransient
                         : code == Code::kResourceExhausted ? ErrorKind::kResource
                                                            : ErrorKind::kData;
  Status status = Status::error(kind, code, path, "; ", std::strerror(error));
  status.edit().type = error == ENOSPC || error == EDQUOT ? "DiskFull" : "FileError";
  status.edit().file = path;
  status.edit().offset = offset;
  return status;
}

Result<std::size_t> File::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset >= size_) return std::size_t{0};
  out = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - offset)));
  Doing reading(Phase::kFile, 0, 0, -1, nullptr, static_cast<std::int64_t>(offset));
  reading.detail(path_);
  std::size_t done = 0;
  while (done < out.size()) {
    SW_TEST_POINT("file.read");
    if (done > 0 && interrupted()) return cancelled();
    const auto next = out.subspan(done);
    SW_ASSIGN(const std::size_t got,
              read_some(offset + done, next.first(std::min(next.size(), kAtOnce))));
    if (got == 0) {
      return corrupt_file(path_, offset + done, path_, ": the file became shorter while it was ",
                          "read: expected ", size_, " bytes, found ", offset + done);
    }
    done += got;
  }
  return done;
}

namespace {

// Files of /proc say that they have no bytes, and have some: to read nothing would lose them.
Status check_empty(const std::string& path, int fd) {
  std::byte first{};
  struct stat about{};
  if (::pread(fd, &first, 1, 0) <= 0 || ::fstat(fd, &about) != 0 || about.st_size > 0) return {};
  Status status = bad_data(Code::kInvalidArgument, path,
                           ": the file says that it has 0 bytes and has more, as files of /proc "
                           "do: copy it and name the copy");
  status.edit().type = "FileError";
  status.edit().file = path;
  return status;
}

Result<FilePtr> open_local(const std::string& path, bool grows) {
  if (path.find('\0') != std::string::npos) return file_error(path, EINVAL);
  SW_ASSIGN(const int fd, LocalFile::open_descriptor(path));
  struct stat about{};
  Status status = ::fstat(fd, &about) == 0 ? Status() : file_error(path, errno);
  if (status.ok() && about.st_size == 0) status = check_empty(path, fd);
  if (!status.ok()) {
    ::close(fd);
    return status;
  }
  return FilePtr(std::make_shared<LocalFile>(path, fd, about, grows));
}

}  // namespace

Result<FilePtr> open_file(const std::string& path) {
  if (!scheme_of(path).empty()) {
    if (const FileOpener opener = opener_of(path)) {
      note_other_store();
      return opener(path);
    }
    Status status = Status::error(ErrorKind::kUser, Code::kUnimplemented, "File system scheme '",
                                  scheme_of(path), "' not implemented (file: '", path, "')");
    status.edit().file = path;
    return status;
  }
  return open_local(path, /*grows=*/false);
}

Result<FilePtr> open_growing_file(const std::string& path) {
  return open_local(path, /*grows=*/true);
}

namespace {
std::atomic<bool> used_other_store{false};
}  // namespace
bool other_stores_used() { return used_other_store; }
void note_other_store() { used_other_store = true; }

bool file_exists(const std::string& path) {
  struct stat about{};
  return !scheme_of(path).empty() || ::stat(path.c_str(), &about) == 0;
}

void set_file_opener(const std::string& scheme, FileOpener opener) {
  const MutexLock lock(openers().mutex);
  if (opener) {
    openers().by_scheme[scheme] = std::move(opener);
  } else {
    openers().by_scheme.erase(scheme);
  }
}

std::string_view scheme_of(std::string_view path) {
  const std::size_t end = path.find("://");
  if (end == path.npos || end == 0) return {};
  const std::string_view scheme = path.substr(0, end);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  };
  return std::all_of(scheme.begin(), scheme.end(), fits) ? scheme : std::string_view();
}

}  // namespace spillway
