#include "spillway/io/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "spillway/io/file.h"

namespace spillway {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO (a named pipe)";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  if (S_ISSOCK(mode)) return "a socket";
  return "something else";
}

Status refuse(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return {};
  if (S_ISDIR(mode)) return file_error(path, EISDIR);
  Status status = bad_data(Code::kInvalidArgument, path, ": expected a regular file, found ",
                           kind_of(mode), ": write its content to a file and name that");
  status.edit().type = "FileError";
  status.edit().file = path;
  return status;
}

}  // namespace

Status refuse_special(const std::string& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 ? refuse(path, about.st_mode) : Status();
}

Result<int> open_regular(const std::string& path, int flags, mode_t mode) {
  SW_RETURN_IF_ERROR(refuse_special(path));
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
  } while (fd < 0 && errno == EINTR);
  // Of a FIFO that nobody reads.
  if (fd < 0 && errno == ENXIO) SW_RETURN_IF_ERROR(refuse_special(path));
  if (fd < 0) return file_error(path, errno);
  struct stat about{};
  Status status = ::fstat(fd, &about) == 0 ? refuse(path, about.st_mode) : file_error(path, errno);
  if (status.ok()) return fd;
  ::close(fd);
  return status;
}

}  // namespace spillway
