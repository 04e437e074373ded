#pragma once

#include <string>
#include <vector>

#include "spillway/io/file.h"
#include "spillway/memory/buffer.h"

namespace spillway {

struct ZipMember {
  std::string name;  // a name, never a place on this machine
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t stored = 0;  // bytes in the archive
  std::uint64_t size = 0;    // bytes of its content
  std::uint64_t data = 0;    // where they begin
};

// The directory of a zip archive (also zip64), which stands at its end. Nothing is believed that
// the archive does not say twice: every member's own header must agree with the directory, members
// must lie behind each other, before the directory, and none may claim to expand further than
// deflate can. Encrypted members and methods other than stored and deflated are refused by name,
// and so are archives in several parts. Folders are left out. Errors: CorruptFile with the offset.
// The directory is charged to the account while it is read, and has at most 16 MiB. Never waits for
// memory: archives are looked at when a dataset is built, too.
Result<std::vector<ZipMember>> read_zip_directory(const File& file, const AccountPtr& account);

}  // namespace spillway
