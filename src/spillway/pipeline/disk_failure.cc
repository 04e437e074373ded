#include "spillway/pipeline/disk_failure.h"

#include <cerrno>
#include <cstring>

namespace spillway {

Status write_failure(std::string_view doing, const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const bool fails = error == EIO;
  const Code code = full               ? Code::kResourceExhausted
                    : fails            ? Code::kUnavailable
                    : error == ENOENT  ? Code::kNotFound
                    : error == ENOTDIR ? Code::kNotFound
                    : error == EEXIST  ? Code::kAlreadyExists
                    : error == EACCES  ? Code::kPermissionDenied
                    : error == EROFS   ? Code::kPermissionDenied
                                       : Code::kUnknown;
  Status status = Status::error(full || fails ? ErrorKind::kResource : ErrorKind::kUser, code,
                                doing, " ", path, ": ", std::strerror(error));
  status.edit().file = path;
  if (full) status.edit().type = "DiskFull";
  if (fails) status.edit().type = "FileError";
  return status;
}

bool is_disk_failure(const Status& error) {
  if (error.ok() || error.kind() != ErrorKind::kResource || error.info().file.empty()) return false;
  return error.info().type == "DiskFull" || error.code() == Code::kUnavailable;
}

}  // namespace spillway
