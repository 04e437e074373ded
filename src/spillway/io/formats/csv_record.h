#pragma once

#include "spillway/io/formats/csv_columns.h"
#include "spillway/io/formats/csv_scan.h"

namespace spillway {

// Cuts records into fields and hands those that are wanted to their columns. One thread.
class CsvRecord {
 public:
  enum class Read : std::uint8_t { kWhole, kPart, kNoRoom, kNoMemory };

  explicit CsvRecord(const CsvFormat& format) : format_(format), wanted_(format.columns.size()) {}

  // The record that begins at `begin`, where `scan` has come to; `ended`: nothing follows the text.
  // Without columns its fields go nowhere. kPart: the text ends before the record. What is wrong
  // with it does not end a record: all of it is passed.
  Read read(std::string_view text, std::size_t begin, bool ended, CsvScan& scan,
            CsvColumns* columns);

  // Of the record read last: where the next begins, the line ends in it,
  std::size_t end() const { return at_; }
  std::int64_t lines() const { return lines_; }
  // whether its fields could be cut, whether it is good,
  bool faultless() const { return fault_ == Fault::kNone; }
  // and if not: what is wrong, in TensorFlow's words, and where that begins.
  bool good() const { return faultless() && stored_ == wanted_; }
  std::string wrong() const;
  std::size_t wrong_at() const { return fault_ == Fault::kNone ? begin_ : fault_at_; }

 private:
  enum class Fault : std::uint8_t {
    kNone,
    kStray,
    kUnescaped,
    kUnclosed,
    kMany,
    kMissing,
    kNumber
  };
  static constexpr int kNoColumn = -1;
  static constexpr int kTooMany = -2;

  // Where the field goes that is read.
  int next_column();
  // The place behind a field that begins at at_; npos: not in the text.
  std::size_t cut_plain(std::string_view text, bool ended, CsvScan& scan, CsvField& field);
  std::size_t cut_quoted(std::string_view text, bool ended, CsvScan& scan, CsvField& field);
  // To the end of a line: at_ is behind it. False: not in the text.
  bool pass_line_end(std::string_view text, std::size_t end, bool ended, CsvScan& scan);
  void note(Fault fault, int column = kNoColumn, const CsvField& found = {});

  const CsvFormat& format_;
  const std::size_t wanted_;
  std::size_t begin_ = 0;
  std::size_t at_ = 0;  // begin of the field that is read, in the end that of the next record
  std::size_t field_ = 0;
  std::size_t stored_ = 0;
  std::size_t left_out_ = 0;  // of format_.exclude
  std::int64_t lines_ = 0;
  Fault fault_ = Fault::kNone;  // the first
  std::size_t fault_at_ = 0;
  std::size_t fault_field_ = 0;
  int fault_column_ = 0;
  CsvField found_;
};

}  // namespace spillway
