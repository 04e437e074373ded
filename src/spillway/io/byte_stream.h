#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "spillway/io/file.h"
#include "spillway/memory/buffer.h"

namespace spillway {

enum class Compression : std::uint8_t { kNone, kGzip, kZlib };
// TensorFlow's names: "", "GZIP", "ZLIB".
Result<Compression> compression_named(std::string_view name);

// The content of a file from its beginning to its end, decompressed where it is compressed: gzip
// files may have several members. Buffers are charged to the account and as large as asked for;
// they grow only where one look needs more. One thread.
class ByteStream {
 public:
  static constexpr std::size_t kBuffer = 256 * 1024;

  // `buffer` = 0: kBuffer, or all of a smaller file.
  static Result<std::unique_ptr<ByteStream>> open(FilePtr file, Compression compression,
                                                  AccountPtr account, std::size_t buffer = 0);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // What comes next, without passing it: at least `n` bytes, fewer only at the end. Valid until
  // the next call. What has to be read for it is read up to `ahead` bytes ahead (0: as far as the
  // buffer goes). Where `n` bytes do not fit: a resource error that names file, place and sizes,
  // ElementTooLarge where they never will. Asking again goes on.
  Result<std::span<const std::byte>> look(std::size_t n, std::size_t ahead = 0);
  // Passes `n` of the bytes that the last look() showed.
  void pass(std::size_t n);
  // Fills `out` and passes it; fewer only at the end. Large pieces go from the file to `out`. After
  // Ctrl-C (kCancelled) nothing is passed.
  Result<std::size_t> read(std::span<std::byte> out);
  // Compressed content is read up to there and never goes back: it stays where it is. Beyond the
  // end is the end.
  Status seek(std::uint64_t position);

  // In the content.
  std::uint64_t position() const { return position_; }
  // How long the content is, where that is known without reading it.
  std::optional<std::uint64_t> length() const;
  const File& file() const { return *file_; }
  // An error for want of memory (others stay as they are), with the file, the place and what is
  // there of the element at position(); ElementTooLarge where `wanted` bytes never fit beside the
  // buffer.
  Status too_long(Status error, std::size_t so_far, std::size_t wanted) const;

 private:
  class Inflater;
  ByteStream(FilePtr file, AccountPtr account, std::size_t buffer);
  // More bytes of the content to `out`: 0 at the end.
  Result<std::size_t> produce(std::span<std::byte> out);
  Result<std::size_t> read_on(std::span<std::byte> out);
  Status catch_up();
  void go_back(std::uint64_t position);
  Status make_room(std::size_t bytes);
  Result<Buffer> larger_buffer(std::size_t bytes);

  const FilePtr file_;
  const AccountPtr account_;
  const std::size_t buffer_size_;
  const std::size_t direct_;            // larger pieces are not worth a copy through the buffer
  std::unique_ptr<Inflater> inflater_;  // null: not compressed
  std::uint64_t produced_ = 0;          // of the content, so far
  std::uint64_t position_ = 0;
  std::optional<Buffer> buffer_;
  std::size_t begin_ = 0;  // of what is in the buffer and not passed
  std::size_t end_ = 0;
};

}  // namespace spillway
