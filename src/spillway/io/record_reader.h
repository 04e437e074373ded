#pragma once

#include "spillway/io/byte_stream.h"
#include "spillway/io/row_reader.h"
#include "spillway/tensor/string_rows.h"

namespace spillway {

// The records of one file in turn, as strings: rows of one column. Made by a format. One thread.
class RecordReader : public RowReader {
 public:
  // Adds records to `out` until it has no room for the next; the rest as read_rows().
  virtual Result<bool> read(StringRows& out) = 0;

  Result<bool> read_rows(const AccountPtr& account, std::int64_t rows, std::size_t bytes,
                         RowBlock& out) final {
    StringRows records(account, rows, bytes);
    auto more = read(records);
    out.count = records.count();
    if (out.count > 0) out.columns.push_back(records.take());
    return more;
  }
};
using RecordReaderPtr = std::unique_ptr<RecordReader>;

}  // namespace spillway
