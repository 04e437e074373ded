#pragma once

#include <cstdint>
#include <memory>

#include "spillway/io/byte_stream.h"
#include "spillway/tensor/string_rows.h"

namespace spillway {

// The records of one file in turn, as strings. Made by a format. One thread.
class RecordReader {
 public:
  virtual ~RecordReader() = default;

  // Adds records to `out` until it has no room for the next. False: the file ended. An error is
  // that of the record at position(), with its offset; those before it were added. Nothing is
  // passed by an error for want of memory: asking again goes on with the same record.
  virtual Result<bool> read(StringRows& out) = 0;

  // Where the next record begins in the content.
  virtual std::uint64_t position() const = 0;
  // In a new reader: to where position() was.
  virtual Status seek(std::uint64_t position) = 0;
  // After an error: to the next record that is good. False: there is none.
  virtual Result<bool> resynchronise() { return false; }
};
using RecordReaderPtr = std::unique_ptr<RecordReader>;

}  // namespace spillway
