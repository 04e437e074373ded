#pragma once

#include <optional>

#include "spillway/io/formats/csv.h"
#include "spillway/tensor/string_rows.h"

namespace spillway {

// A field as it stands in the file, without the quotes around it.
struct CsvField {
  std::string_view raw;
  bool escaped = false;  // two quotes stand for one

  // The first `most` bytes it means.
  std::string text(std::size_t most) const;
};

// The columns of some records while they grow: fields are converted to where they stay. Memory is
// charged before it is written. One thread.
class CsvColumns {
 public:
  // What became of a field.
  enum class Stored : std::uint8_t { kYes, kNoRoom, kMissing, kNoNumber, kNoMemory };

  CsvColumns(const CsvFormat& format, AccountPtr account);

  // Room for up to `rows` records of about `bytes`. `text`: bytes of a string, column by column.
  Status allocate(std::int64_t rows, std::size_t bytes, const std::vector<std::size_t>& text);

  std::int64_t count() const { return count_; }
  bool full() const { return count_ == most_; }
  // A field of the record behind count(). kNoRoom: those before have to be taken first.
  Stored store(std::size_t column, const CsvField& field);
  // The record is whole, or is none.
  void add() { ++count_; }
  void drop();
  Status take_error() { return std::move(error_); }  // of kNoMemory
  // Sets `text` to what the records so far would have needed.
  void measure(std::vector<std::size_t>& text) const;

  void take(RowBlock& out);

 private:
  struct Column {
    const CsvFormat::Column* format = nullptr;
    Tensor numbers;
    std::byte* data = nullptr;
    std::optional<StringRows> strings;
  };
  Status allocate_numbers(std::int64_t rows, Buffer::Ask ask);
  bool is_given(const CsvField& field) const;
  template <class T>
  Stored store_number(Column& column, const CsvField& field, bool given) const;
  Stored store_string(Column& column, const CsvField& field, bool given);
  Stored add_string(StringRows& strings, const CsvField& field);

  const CsvFormat& format_;
  const AccountPtr account_;
  std::vector<Column> columns_;
  std::int64_t most_ = 0;
  std::int64_t count_ = 0;
  Status error_;
};

}  // namespace spillway
