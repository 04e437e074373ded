#include "spillway/io/formats/csv_record.h"

#include <utility>

namespace spillway {
namespace {

using Stored = CsvColumns::Stored;

// Of \r\n the second ends a line.
bool ends_line(std::string_view text, std::size_t at) {
  if (text[at] == '\r') return at + 1 < text.size() && text[at + 1] != '\n';
  return text[at] == '\n';
}

}  // namespace

int CsvRecord::next_column() {
  const auto field = static_cast<std::int64_t>(field_);
  if (!format_.select.empty()) {
    const bool wanted = stored_ < wanted_ && format_.select[stored_] == field;
    return wanted ? static_cast<int>(stored_) : kNoColumn;
  }
  if (left_out_ < format_.exclude.size() && format_.exclude[left_out_] == field) {
    ++left_out_;
    return kNoColumn;
  }
  return stored_ < wanted_ ? static_cast<int>(stored_) : kTooMany;
}

CsvRecord::Read CsvRecord::read(std::string_view text, std::size_t begin, bool ended, CsvScan& scan,
                                CsvColumns* columns) {
  begin_ = at_ = begin;
  stored_ = left_out_ = 0;
  lines_ = 0;
  fault_ = Fault::kNone;
  for (field_ = 0;; ++field_) {
    if (at_ == text.size() && !ended) return Read::kPart;
    CsvField field;
    const bool quoted = format_.quotes && at_ < text.size() && text[at_] == '"';
    const std::size_t end =
        quoted ? cut_quoted(text, ended, scan, field) : cut_plain(text, ended, scan, field);
    if (end == text.npos) return Read::kPart;
    const int column = columns == nullptr ? kNoColumn : next_column();
    if (column == kTooMany) note(Fault::kMany);
    if (column >= 0 && fault_ == Fault::kNone) {
      ++stored_;
      const Stored stored = columns->store(static_cast<std::size_t>(column), field);
      if (stored == Stored::kNoRoom) return Read::kNoRoom;
      if (stored == Stored::kNoMemory) return Read::kNoMemory;
      if (stored == Stored::kMissing) note(Fault::kMissing, column);
      if (stored == Stored::kNoNumber) note(Fault::kNumber, column, field);
    }
    if (end < text.size() && text[end] == format_.delimiter) {
      at_ = end + 1;
      continue;
    }
    return pass_line_end(text, end, ended, scan) ? Read::kWhole : Read::kPart;
  }
}

bool CsvRecord::pass_line_end(std::string_view text, std::size_t end, bool ended, CsvScan& scan) {
  at_ = end;
  if (end == text.size()) return true;
  ++at_;
  ++lines_;
  if (text[end] != '\r') return true;
  if (at_ == text.size()) return ended;
  if (text[at_] == '\n') {
    ++at_;
    (void)scan.next();
  }
  return true;
}

std::size_t CsvRecord::cut_plain(std::string_view text, bool ended, CsvScan& scan,
                                 CsvField& field) {
  for (;;) {
    const std::size_t end = scan.next();
    if (end == text.size() && !ended) return text.npos;
    if (end < text.size() && text[end] == '"' && format_.delimiter != '"') {
      note(Fault::kStray);
      continue;
    }
    field.raw = text.substr(at_, end - at_);
    return end;
  }
}

std::size_t CsvRecord::cut_quoted(std::string_view text, bool ended, CsvScan& scan,
                                  CsvField& field) {
  const std::size_t begin = at_ + 1;
  (void)scan.next();  // the quote it begins with
  for (;;) {
    const std::size_t found = scan.next();
    if (found == text.size()) {
      if (!ended) return text.npos;
      // TensorFlow says this instead of what else was wrong with the field.
      if (fault_field_ == field_) fault_ = Fault::kNone;
      note(Fault::kUnclosed);
      return found;
    }
    if (text[found] != '"') {
      if (ends_line(text, found)) ++lines_;
      continue;
    }
    field.raw = text.substr(begin, found - begin);
    if (found + 1 == text.size()) return ended ? text.size() : text.npos;
    const char next = text[found + 1];
    if (next == format_.delimiter || next == '\n' || next == '\r') return scan.next();
    if (next == '"') {
      field.escaped = true;
      (void)scan.next();
    } else {
      note(Fault::kUnescaped);
    }
  }
}

void CsvRecord::note(Fault fault, int column, const CsvField& found) {
  if (fault_ != Fault::kNone) return;
  fault_ = fault;
  fault_at_ = at_;
  fault_field_ = field_;
  fault_column_ = column;
  found_ = found;
}

std::string CsvRecord::wrong() const {
  const std::string expect = "Expect " + std::to_string(wanted_) + " fields but have ";
  if (fault_ == Fault::kStray) return "Unquoted fields cannot have quotes inside";
  if (fault_ == Fault::kUnescaped)
    return "Quote inside a string has to be escaped by another quote";
  if (fault_ == Fault::kUnclosed) {
    return "Reached end of file without closing quoted field in record";
  }
  if (fault_ == Fault::kMany) return expect + "more in record";
  if (fault_ == Fault::kNone) return expect + std::to_string(stored_) + " in record";
  const std::string field = "Field " + std::to_string(fault_column_);
  const std::string place = std::cmp_equal(fault_column_, fault_field_)
                                ? ""
                                : " (column " + std::to_string(fault_field_) + " of the file)";
  if (fault_ == Fault::kMissing) return field + " is required but missing in record!" + place;
  constexpr std::size_t kShown = 100;
  std::string found = found_.text(kShown + 1);
  if (found.size() > kShown) found.replace(kShown, 1, "...");
  const DType dtype = format_.columns[static_cast<std::size_t>(fault_column_)].dtype;
  const std::string_view type = dtype == DType::kFloat32   ? "float"
                                : dtype == DType::kFloat64 ? "double"
                                                           : name_of(dtype);
  return field + " in record is not a valid " + std::string(type) + ": " + found + place;
}

}  // namespace spillway
