#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spillway/io/record_reader.h"

// Files for tests: in memory with faults, and on disk for as long as a test runs.
namespace spillway::testing {

// A file made of `content` that hands out at most `piece` bytes a read. From byte `fails_at` on it
// fails, and from byte `ends_at` on it has become shorter.
struct MemoryFile {
  std::string content;
  std::size_t piece = SIZE_MAX;
  std::uint64_t fails_at = UINT64_MAX;
  std::uint64_t ends_at = UINT64_MAX;
};
FilePtr file_of(MemoryFile file);

// A folder of its own, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  // Writes a file and tells its path.
  std::string write(const std::string& name, std::string_view content) const;

 private:
  std::string path_;
};

enum class Packed : std::uint8_t { kGzip, kZlib };
std::string compressed(std::string_view content, Packed how);

std::unique_ptr<ByteStream> stream_of(MemoryFile file, Compression compression = Compression::kNone,
                                      std::size_t buffer = 0);

using OpenReader = std::function<Result<RecordReaderPtr>(std::unique_ptr<ByteStream>)>;
// The records, then "!CODE" for the error that ended them. `rows` and `bytes`: of a chunk.
std::vector<std::string> records_of(const OpenReader& open, MemoryFile file,
                                    Compression compression = Compression::kNone,
                                    std::int64_t rows = 3, std::size_t bytes = 4096);

// What every format of records owes: the same records with any chunks, pieces, buffers and
// compression; from every position() a new reader goes on with the rest; a file that ends early
// or cannot be read is an error that names it, never a record.
void check_format(const OpenReader& open, const std::string& content,
                  const std::vector<std::string>& expect);

}  // namespace spillway::testing
