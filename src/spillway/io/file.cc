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

#include "spillway/base/mutex.h"
#include "spillway/base/test_point.h"
#include "spillway/io/other_stores.h"
#include "spillway/observe/board.h"

namespace spillway {
namespace {

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

// What tells a file from another one of the same name.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const Identity&) const = default;
};

class LocalFile final : public File {
 public:
  LocalFile(const std::string& path, int fd, const struct stat& about)
      : File(path, static_cast<std::uint64_t>(about.st_size)),
        identity_{about.st_dev, about.st_ino},
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

  // A descriptor, or -1 with errno; files nobody reads give theirs away for it.
  static int open_descriptor(const std::string& path) {
    for (;;) {
      // Nobody may ever write to a pipe: opening one must not wait for it.
      const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
      if (fd >= 0 || (errno != EMFILE && errno != ENFILE && errno != EINTR)) return fd;
      if (errno != EINTR && !close_one()) {
        errno = EMFILE;
        return -1;
      }
    }
  }

 protected:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    SW_RETURN_IF_ERROR(begin_reading());
    ssize_t got = 0;
    do {
      got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    } while (got < 0 && errno == EINTR);
    const int error = errno;
    end_reading();
    if (got < 0) return file_error(path(), error, static_cast<std::int64_t>(offset));
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
    const int fd = open_descriptor(path());
    const int error = errno;
    struct stat about{};
    const bool same =
        fd >= 0 && ::fstat(fd, &about) == 0 && Identity{about.st_dev, about.st_ino} == identity_;
    const MutexLock lock(idle().mutex);
    if (same) {
      fd_ = fd;
      return {};
    }
    --readers_;
    if (fd < 0) return file_error(path(), error);
    ::close(fd);
    return corrupt_file(path(), 0, path(), ": the file was replaced while it was read");
  }
  void end_reading() const {
    const MutexLock lock(idle().mutex);
    if (--readers_ > 0) return;
    at_ = idle().files.insert(idle().files.end(), this);
    listed_ = true;
  }

  const Identity identity_;
  mutable Mutex opening_;  // one thread opens it again
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
  status.edit().type = "FileError";
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
    SW_ASSIGN(const std::size_t got, read_some(offset + done, out.subspan(done)));
    if (got == 0) {
      return corrupt_file(path_, offset + done, path_, ": the file became shorter while it was ",
                          "read: expected ", size_, " bytes, found ", offset + done);
    }
    done += got;
  }
  return done;
}

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
  if (path.find('\0') != std::string::npos) return file_error(path, EINVAL);
  const int fd = LocalFile::open_descriptor(path);
  if (fd < 0) return file_error(path, errno);
  struct stat about{};
  const int error = ::fstat(fd, &about) != 0 ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
  if (error != 0) {
    ::close(fd);
    return file_error(path, error);
  }
  if (!S_ISREG(about.st_mode)) {
    ::close(fd);
    return Status(file_error(path, EINVAL)).at("not a regular file");
  }
  return FilePtr(std::make_shared<LocalFile>(path, fd, about));
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
