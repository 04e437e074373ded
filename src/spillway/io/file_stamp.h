#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace spillway {

// What tells one version of a file from another. Times are in nanoseconds; before Linux 6.13 they
// move on only every few milliseconds, so two writes of the same size that follow each other faster
// look alike.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  // the content, as far as programs do not set it back
  std::int64_t changed_ns = 0;   // anything: content, name, owner, permissions, links
  std::uint64_t mode = 0;
  std::uint64_t owner = 0;
  std::uint64_t group = 0;
  std::uint64_t links = 0;
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const struct stat& about);

// In words what makes `now` another version than `before`: "the size: expected 100 bytes, found
// 120". Empty where the content is the same: new permissions, owners or links change only
// changed_ns, and say why.
std::string what_changed(const FileStamp& before, const FileStamp& now);

}  // namespace spillway
