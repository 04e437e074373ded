#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "spillway/tensor/tensor.h"

namespace spillway {

// Rows as columns, each a block [count, ...].
struct RowBlock {
  std::int64_t count = 0;
  std::vector<Tensor> columns;
};

// The rows of one file in turn. Made by a format. One thread.
class RowReader {
 public:
  virtual ~RowReader() = default;

  // Up to `rows` rows, about `bytes` of them, to `out`, which is empty; charged to `account`.
  // False: the file ended. An error is that of the row at position(), with its offset; those before
  // it are in `out`. Nothing is passed by an error for want of memory: asking again goes on with
  // the same row.
  virtual Result<bool> read_rows(const AccountPtr& account, std::int64_t rows, std::size_t bytes,
                                 RowBlock& out) = 0;

  // Where the next row begins in the content.
  virtual std::uint64_t position() const = 0;
  // In a new reader: to where position() was.
  virtual Status seek(std::uint64_t position) = 0;
  // After an error: to the next row that may be good. False: there is none.
  virtual Result<bool> resynchronise() { return false; }
};
using RowReaderPtr = std::unique_ptr<RowReader>;

}  // namespace spillway
