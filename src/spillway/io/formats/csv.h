#pragma once

#include <string>
#include <vector>

#include "spillway/io/byte_stream.h"
#include "spillway/io/row_reader.h"

namespace spillway {

// How a CSV file is read. The caller has checked: columns are float32, float64, int32, int64 or
// strings; `select` and `exclude` are increasing, not both given, `select` as long as `columns`.
struct CsvFormat {
  struct Column {
    DType dtype = DType::kString;
    Tensor fallback;  // for an empty field: one item, or none where the field is required
  };
  std::vector<Column> columns;
  std::vector<std::int64_t> select;   // fields that become columns; empty: all
  std::vector<std::int64_t> exclude;  // fields that do not; empty: none
  char delimiter = ',';
  bool quotes = true;    // fields may stand in '"'
  bool header = false;   // the first record is none
  std::string na_value;  // as good as an empty field
};

// The records of a CSV file as columns, cut and converted as TensorFlow's CsvDataset does it:
// records end with \n, \r or \r\n outside of quotes, an empty line is a record of one empty field,
// a byte order mark belongs to the first field. A record that cannot be read is an error with file,
// line, offset, field, what was expected and found; resynchronise() goes on behind it.
Result<RowReaderPtr> read_csv(std::unique_ptr<ByteStream> stream,
                              std::shared_ptr<const CsvFormat> format);

}  // namespace spillway
