#include "spillway/io/formats/csv_columns.h"

#include <algorithm>

#include "spillway/base/parse_number.h"

namespace spillway {
namespace {

// Writes what a field means to `to`, at most `most` bytes.
std::size_t unescape(std::string_view raw, char* to, std::size_t most) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < raw.size() && n < most; ++i, ++n) {
    to[n] = raw[i];
    if (raw[i] == '"') ++i;  // the second of two
  }
  return n;
}

}  // namespace

std::string CsvField::text(std::size_t most) const {
  if (!escaped) return std::string(raw.substr(0, most));
  std::string out(std::min(most, raw.size()), '\0');
  out.resize(unescape(raw, out.data(), out.size()));
  return out;
}

CsvColumns::CsvColumns(const CsvFormat& format, AccountPtr account)
    : format_(format), account_(std::move(account)) {
  for (const CsvFormat::Column& column : format.columns) {
    columns_.emplace_back().format = &column;
  }
}

Status CsvColumns::allocate(std::int64_t rows, std::size_t bytes,
                            const std::vector<std::size_t>& text) {
  std::size_t each = 1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const DType dtype = columns_[i].format->dtype;
    each += dtype == DType::kString ? sizeof(std::int64_t) + text[i] : size_of(dtype);
  }
  constexpr std::int64_t kFew = 16;  // where memory is scarce
  most_ = std::max<std::int64_t>(1, std::min(rows, static_cast<std::int64_t>(bytes / each)));
  if (!allocate_numbers(most_, Buffer::Ask::kOptional).ok()) {
    most_ = std::min(most_, kFew);
    SW_RETURN_IF_ERROR(allocate_numbers(most_, Buffer::Ask::kRequired));
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].format->dtype != DType::kString) continue;
    columns_[i].strings.emplace(account_, most_, static_cast<std::size_t>(most_) * text[i]);
  }
  return {};
}

Status CsvColumns::allocate_numbers(std::int64_t rows, Buffer::Ask ask) {
  for (Column& column : columns_) {
    if (column.format->dtype == DType::kString) continue;
    column.numbers = Tensor();
    SW_ASSIGN(column.numbers, make_tensor(account_, column.format->dtype, Shape{rows}, ask));
    column.data = column.numbers.mutable_data();
  }
  return {};
}

bool CsvColumns::is_given(const CsvField& field) const {
  if (field.raw.empty()) return false;
  const std::string& na = format_.na_value;
  if (!field.escaped) return field.raw != na;
  return field.text(na.size() + 1) != na;
}

template <class T>
CsvColumns::Stored CsvColumns::store_number(Column& column, const CsvField& field,
                                            bool given) const {
  T& item = reinterpret_cast<T*>(column.data)[count_];
  if (!given) {
    item = column.format->fallback.as<T>()[0];
    return Stored::kYes;
  }
  if (field.escaped) return Stored::kNoNumber;  // a quote is no part of one
  const std::optional<T> value = parse_number<T>(field.raw);
  if (!value) return Stored::kNoNumber;
  item = *value;
  return Stored::kYes;
}

CsvColumns::Stored CsvColumns::add_string(StringRows& strings, const CsvField& field) {
  if (!field.escaped && strings.add_fitting(field.raw)) return Stored::kYes;
  auto place = strings.room(field.raw.size());
  if (!place.ok()) {
    error_ = std::move(place).status();
    return Stored::kNoMemory;
  }
  if (place.value() == nullptr) return Stored::kNoRoom;
  auto* to = reinterpret_cast<char*>(place.value());
  if (field.escaped) {
    strings.add(unescape(field.raw, to, field.raw.size()));
  } else {
    std::ranges::copy(field.raw, to);
    strings.add(field.raw.size());
  }
  return Stored::kYes;
}

CsvColumns::Stored CsvColumns::store_string(Column& column, const CsvField& field, bool given) {
  if (given) return add_string(*column.strings, field);
  return add_string(*column.strings, {column.format->fallback.string_at(0)});
}

CsvColumns::Stored CsvColumns::store(std::size_t column, const CsvField& field) {
  Column& to = columns_[column];
  const bool given = is_given(field);
  if (!given && to.format->fallback.count() == 0) return Stored::kMissing;
  switch (to.format->dtype) {
    case DType::kFloat32:
      return store_number<float>(to, field, given);
    case DType::kFloat64:
      return store_number<double>(to, field, given);
    case DType::kInt32:
      return store_number<std::int32_t>(to, field, given);
    case DType::kInt64:
      return store_number<std::int64_t>(to, field, given);
    default:
      return store_string(to, field, given);
  }
}

void CsvColumns::drop() {
  for (Column& column : columns_) {
    if (column.strings) column.strings->truncate(count_);
  }
}

void CsvColumns::measure(std::vector<std::size_t>& text) const {
  if (count_ == 0) return;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].strings) continue;
    const std::size_t mean = columns_[i].strings->bytes() / static_cast<std::size_t>(count_);
    text[i] = mean + mean / 4 + 4;  // a chunk ends with the first column that is full
  }
}

void CsvColumns::take(RowBlock& out) {
  out.count = count_;
  if (count_ == 0) return;
  for (Column& column : columns_) {
    if (column.strings) {
      out.columns.push_back(column.strings->take());
      continue;
    }
    column.numbers.buffer()->touch();
    out.columns.push_back(column.numbers.slice(0, count_));
  }
}

}  // namespace spillway
