#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spillway/base/status.h"
#include "spillway/io/file_stamp.h"

namespace spillway {

// A file of the user's, read at positions. The one seam between the engine and files: tests let it
// fail here, and a front brings other stores ("s3://...") in here. Nothing is mapped into memory: a
// file that shrinks under a map kills the process. Thread-safe.
class File {
 public:
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  // When it was opened.
  std::uint64_t size() const { return size_; }

  // Fills `out` from `offset`; fewer bytes only where the file ended when it was opened. One that
  // ends earlier now, or was written to, is DATA_LOSS. Every error names path and offset. Ctrl-C
  // ends a long read (kCancelled).
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> out) const;
  // As it was when it was opened; a store may not say.
  virtual std::optional<FileStamp> stamp() const { return std::nullopt; }

 protected:
  File(std::string path, std::uint64_t size) : path_(std::move(path)), size_(size) {}
  // At least one byte, at most `out`; 0: the end.
  virtual Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const = 0;

 private:
  const std::string path_;
  const std::uint64_t size_;
};
using FilePtr = std::shared_ptr<const File>;

// Local files are closed while nobody reads them when the process has no descriptors left, and
// opened again: more of them may be under way than may be open. Only regular files are opened, and
// of those none that says it is empty and is not (/proc).
Result<FilePtr> open_file(const std::string& path);
// A local file that others append to: what was there when it was opened is read, and that it grows
// is no change.
Result<FilePtr> open_growing_file(const std::string& path);

// Whether something is there that open_file would try.
bool file_exists(const std::string& path);

// Who opens "SCHEME://..."; scheme "": all that have none of their own. An empty one takes it back.
using FileOpener = std::function<Result<FilePtr>(const std::string& path)>;
void set_file_opener(const std::string& scheme, FileOpener opener);
// "s3" of "s3://bucket/key"; empty for a local path.
std::string_view scheme_of(std::string_view path);

// What a failed system call means for this file, in TensorFlow's classes.
Status file_error(const std::string& path, int error, std::int64_t offset = -1);
// The bytes at `offset` are not what they have to be: "expected ..., found ...".
template <class... Parts>
Status corrupt_file(const std::string& path, std::uint64_t offset, const Parts&... parts) {
  Status status = bad_data(Code::kDataLoss, parts...);
  status.edit().type = "CorruptFile";
  status.edit().file = path;
  status.edit().offset = static_cast<std::int64_t>(offset);
  return status;
}

}  // namespace spillway
