#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spillway/io/byte_stream.h"

// Whether a file is whole, whatever it holds: the pre-flight check of single files. A format is one
// line of the table in file_check.cc.
namespace spillway {

// What a check is given beside the file. Everything it needs is charged to the account.
struct CheckRoom {
  const AccountPtr& account;
  Buffer::Ask ask = Buffer::Ask::kRequired;
};

struct FileFormat {
  std::string_view name;        // "tfrecord"
  std::string_view extensions;  // ".tfrecord .tfrecords", in lower case
  // By the first bytes, where the name says nothing; null: never.
  bool (*claims)(std::span<const std::byte> first) = nullptr;
  // Reads all of it, as the pipelines' readers do: their errors, with path and offset.
  Status (*check)(const FilePtr& file, Compression compression, const CheckRoom& room) = nullptr;
};
std::span<const FileFormat> file_formats();

struct CheckedFile {
  std::string_view format;  // empty: nothing here reads it
  std::uint64_t bytes = 0;
};

// Reads and decodes a whole file: as `format`, or (empty) as its name says, or else its first
// bytes. ".gz" behind the name is gzip. A file of no bytes is damaged, whatever its format. `text`:
// "utf-8" has text looked at too, and makes text of what is of no known format; "" does not.
// A budget error names the file.
Result<CheckedFile> check_file(const std::string& path, std::string_view format,
                               std::string_view text, const CheckRoom& room);

}  // namespace spillway
