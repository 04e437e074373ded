#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spillway/io/byte_stream.h"
#include "spillway/tensor/structure.h"

namespace spillway {

// A file of rows, as caches and saved datasets have it: sixteen bytes that say which of them, then
// for each row its length, a checksum of length and bytes, and the bytes as append_row_bytes writes
// them; then a record of length kRowsEnd that holds the number of rows.
struct RowHead {
  std::uint64_t length;
  std::uint32_t checksum;
  std::uint32_t zero = 0;
};
inline constexpr std::uint64_t kRowsEnd = UINT64_MAX;
using RowFileMagic = std::array<char, 16>;

std::uint32_t row_checksum(std::uint64_t length, std::span<const std::byte> bytes);

// Reads the rows in order, through charged buffers; whatever the file holds, the answer is rows
// that fit the structure, or an error with file and offset. One thread.
class RowFileReader {
 public:
  struct Kind {
    const RowFileMagic& magic;
    std::string_view what;    // "cache file": begins every error
    std::string_view advice;  // ends it
  };
  // `structure` null: rows of any structure.
  RowFileReader(std::unique_ptr<ByteStream> bytes, const Kind& kind, StructurePtr structure,
                AccountPtr account);

  // Compares the first bytes. Before anything else.
  Status open();
  // The next row's values; nothing behind the last. Without `wanted` it is passed over, its
  // checksum compared, and the values are empty.
  Result<std::optional<std::vector<Tensor>>> next(bool wanted = true);

  // Rows before the next one, and where that begins.
  std::int64_t row() const { return row_; }
  std::uint64_t position() const { return bytes_->position(); }
  // To where row() and position() were; or to the first row.
  Status seek(std::int64_t row, std::uint64_t position);
  Status rewind() { return seek(0, sizeof(RowFileMagic)); }

 private:
  using Values = std::optional<std::vector<Tensor>>;
  Status corrupt(std::uint64_t offset, std::string_view what) const;
  bool goes_straight(std::uint64_t length) const;
  Result<Values> next_large(const RowHead& head, std::uint64_t offset);
  Result<Tensor> read_component(const Structure& leaf, std::uint64_t& left, std::uint32_t& checksum,
                                std::uint64_t offset);

  const std::unique_ptr<ByteStream> bytes_;
  const Kind kind_;
  const StructurePtr structure_;
  const AccountPtr account_;
  std::int64_t row_ = 0;
};

}  // namespace spillway
