#pragma once

#include <array>
#include <optional>
#include <string>

#include "spillway/io/byte_stream.h"
#include "spillway/tensor/string_rows.h"

namespace spillway {

// What an archive's name says: gzip for .gz and .tgz.
inline Compression tar_compression(std::string_view path) {
  const bool gzip = path.ends_with(".gz") || path.ends_with(".tgz");
  return gzip ? Compression::kGzip : Compression::kNone;
}

struct TarMember {
  std::string name;         // as the archive writes it: a name, never a place on this machine
  std::uint64_t begin = 0;  // of its first header: a reader may begin there
  std::uint64_t data = 0;   // of its content
  std::uint64_t size = 0;   // of its content
  bool regular = false;     // else a folder, a link or a device, without content
};

// The members of a tar archive in turn: ustar, GNU's long names and pax headers (`path`, `size`).
// Nothing is ever written to disk. The checksum of every header is compared before anything in it
// is believed, and a size never reaches beyond the end of a file whose length is known. The archive
// must end with a block of zeros: one that just stops was cut. Sparse files are refused, for their
// content is not in one piece; so are names and sizes for all members to come (global pax headers).
// Errors: CorruptFile with the offset of the header. One for want of memory passes nothing: asking
// again goes on. One thread.
class TarReader {
 public:
  static constexpr std::size_t kBlock = 512;

  explicit TarReader(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  // Passes what is left of the last one. Nothing: the archive ended.
  Result<std::optional<TarMember>> next();
  // All of this member, which next() gave last, as the next string. False: `out` has no room.
  Result<bool> read(const TarMember& member, StringRows& out);

  // Where the next header begins; a new reader may seek there.
  std::uint64_t position() const { return extended_ ? begin_ : next_; }
  void seek(std::uint64_t position);
  // After an error: to the next block that is the header of a member. False: there is none.
  Result<bool> resynchronise();
  const std::string& path() const { return stream_->file().path(); }

 private:
  using Block = std::array<std::byte, kBlock>;
  Result<bool> fetch_header();
  Status check_rest();
  Result<TarMember> describe(char type);
  Result<std::uint64_t> content_size() const;
  Status extend(char type, std::uint64_t size);
  Status apply_pax(std::string_view records, bool global);
  template <class... Parts>
  Status corrupt(std::uint64_t offset, const Parts&... parts) const;

  const std::unique_ptr<ByteStream> stream_;
  std::uint64_t next_ = 0;  // the header to read next
  // What headers before a member's own say of it.
  bool extended_ = false;
  std::uint64_t begin_ = 0;  // of the first of them
  std::optional<std::string> long_name_;
  std::optional<std::uint64_t> long_size_;
  std::optional<Block> header_;  // at next_, where it was read; the stream is behind it
};

}  // namespace spillway
